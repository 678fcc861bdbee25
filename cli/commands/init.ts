import { printable } from '../../shared/display/index.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { Session } from '../session.ts';

/** `firn init`: a person's call is permission to make the ledger of a catalog. What is there stays as it is. */
export async function init(session: Session): Promise<ExitCode> {
  const setup = await session.initLedger();
  if (session.isJson) {
    session.printJson({ outcome: 'initialized', ...setup });
    return EXIT_CODES.done;
  }
  if (setup.kind === 'file') {
    session.print(['nothing to make: the ledger of a file catalog is a folder beside it']);
    return EXIT_CODES.done;
  }
  const { ledgerTable, stateLocation, reportExpiry } = setup;
  session.print([
    `ledger table ${printable(ledgerTable)} is there`,
    `state location ${printable(stateLocation)} can be written`,
    reportExpiry.isOn
      ? 'reports expire after 92 days'
      : `warning: reports do not expire: ${printable(reportExpiry.reason)}`,
  ]);
  return EXIT_CODES.done;
}
