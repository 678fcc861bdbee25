import { IcebergError, type JsonObject } from '../../shared/base/index.ts';
import { permissionOfPerson } from '../../shared/guards/index.ts';
import type {
  CommitSummary,
  GroupResult,
  NamedGroup,
  OptionTexts,
} from '../../shared/maintenance/index.ts';
import { PRICE_TABLE, type PriceEstimate } from '../../shared/pricing/index.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';

/** @throws invalid-config — for text without `=`, and for a key given twice */
export function parseOptionTexts(texts: readonly string[]): OptionTexts {
  const options: Record<string, string> = {};
  for (const text of texts) {
    const split = text.indexOf('=');
    const key = text.slice(0, split);
    if (split < 1) {
      throw new IcebergError('invalid-config', `option ${text}: is not of the form key=value`);
    }
    if (Object.hasOwn(options, key)) {
      throw new IcebergError('invalid-config', `option ${key}: is given twice`);
    }
    options[key] = text.slice(split + 1);
  }
  return options;
}

/** Whoever turned maintenance off is told that a person has overruled it. A dry run overrules nothing. */
export function permissionNote(
  { dryRun }: { readonly dryRun: boolean },
  properties: Readonly<Record<string, string>>,
): string[] {
  if (dryRun || properties['firn.enabled']?.trim().toLowerCase() !== 'false') return [];
  return [`note: ${permissionOfPerson(properties).reason}`];
}

export function estimateToJson({ lines, totalDollars }: PriceEstimate): JsonObject {
  const { region, asOf } = PRICE_TABLE;
  return {
    dollars: totalDollars,
    region,
    pricesAsOf: asOf,
    lines: lines.map((line) => ({ ...line })),
  };
}

/** How a run that rewrites something ended, as far as its exit code goes. */
type RewriteEnding =
  | {
      readonly outcome:
        | 'committed'
        | 'observed'
        | 'busy'
        | 'skipped'
        | 'held-back'
        | 'no-snapshot'
        | 'nothing-planned';
    }
  | {
      readonly outcome: 'partial';
      readonly commits: readonly CommitSummary[];
      readonly groups: readonly GroupResult<NamedGroup>[];
    };

/** Groups that other writers overtook are no failure as long as others were committed. */
export function exitCodeOf(ending: RewriteEnding): ExitCode {
  switch (ending.outcome) {
    case 'committed':
    case 'observed':
      return EXIT_CODES.done;
    case 'partial':
      return ending.commits.length > 0 && !ending.groups.some(isFailure)
        ? EXIT_CODES.done
        : EXIT_CODES.failed;
    case 'busy':
      return EXIT_CODES.failed;
    case 'skipped':
    case 'held-back':
    case 'no-snapshot':
    case 'nothing-planned':
      return EXIT_CODES.nothingToDo;
  }
}

function isFailure({ state }: GroupResult<NamedGroup>): boolean {
  return state === 'failed' || state === 'commit-failed';
}
