import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { serializeJson } from '../shared/base/index.ts';
import { readCliConfig } from './config.ts';
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import type { Session, SessionOptions } from './session.ts';

const EXIT_CODES_HELP = `
Exit codes: 0 done, 1 failed, 2 usage, 3 nothing to do now.
Credentials come from the usual AWS places: environment, profile, role.`;

/** A screen of reports. */
const HISTORY_COUNT_DEFAULT = 20;

ignoreClosedPipe(process.stdout);
ignoreClosedPipe(process.stderr);

const config = readCliConfig();
let exitCode: ExitCode = EXIT_CODES.done;

const program = new Command('firn')
  .description(
    'Keeps Apache Iceberg tables on S3 healthy: look at tables, rewrite their data and delete files.',
  )
  .version(packageJson.version)
  .showHelpAfterError('(add --help for what is possible)')
  .exitOverride()
  .addHelpText('after', EXIT_CODES_HELP);

// Commands are loaded when they are run: the libraries behind them take longer to load than a usage error may.

tableCommand('inspect', 'show what a table is, how its files are, and what Firn would refuse')
  .option('--no-files', 'read metadata only, no manifests')
  .action((table: string, options: SessionOptions & { files: boolean }) =>
    run(options, async (session) => {
      const { inspect } = await import('./commands/inspect.ts');
      return inspect(table, options, session);
    }),
  );

rewriteCommand(
  tableCommand('compact', 'rewrite small and oversized data files, in one commit; deletes nothing')
    .option('--branch <name>', 'the branch to compact', 'main')
    .option(
      '--option <key=value>',
      "one of Iceberg's rewrite options, such as min-input-files=2; may be repeated",
      collect,
      [],
    )
    .option(
      '--min-file-age-ms <ms>',
      'rewrite files from this age on, whatever the table says',
      milliseconds,
    ),
).action((table: string, options: RewriteOptions) =>
  run(options, async (session) => {
    const { compact } = await import('./commands/compact.ts');
    return compact(rewriteRequest(table, options), session);
  }),
);

rewriteCommand(
  tableCommand(
    'deletes',
    'fold, merge and convert delete files, and drop what nothing needs, in one commit',
  )
    .option('--branch <name>', 'the branch whose deletes are rewritten', 'main')
    .option(
      '--option <key=value>',
      'a threshold, such as delete-file-threshold=2, or rewrite-all=true; may be repeated',
      collect,
      [],
    )
    .option(
      '--min-file-age-ms <ms>',
      'rewrite deletes of partitions that were left alone for twice this long, whatever the table says',
      milliseconds,
    ),
).action((table: string, options: RewriteOptions) =>
  run(options, async (session) => {
    const { deletes } = await import('./commands/deletes.ts');
    return deletes(rewriteRequest(table, options), session);
  }),
);

tableCommand('history', 'list what Firn did with a table and why it left it alone, newest first')
  .option('--limit <count>', 'how many reports', count, HISTORY_COUNT_DEFAULT)
  .action((table: string, options: SessionOptions & { limit: number }) =>
    run(options, async (session) => {
      const { history } = await import('./commands/history.ts');
      return history({ table, reportCountMax: options.limit }, session);
    }),
  );

tableCommand('why', 'say what is due for a table, what is not, and why; writes nothing')
  .option('--branch <name>', 'the branch to look at', 'main')
  .action((table: string, options: SessionOptions & { branch: string }) =>
    run(options, async (session) => {
      const { why } = await import('./commands/why.ts');
      return why({ table, branch: options.branch }, session);
    }),
  );

catalogCommand(
  'init',
  'make the ledger of a catalog: a DynamoDB table beside it; changes no table',
).action((options: SessionOptions) =>
  run(options, async (session) => {
    const { init } = await import('./commands/init.ts');
    return init(session);
  }),
);

tableCommand('register', 'add a table that exists as metadata files to the catalog')
  .requiredOption('--metadata-location <location>', 'its current metadata file')
  .action((table: string, options: SessionOptions & { metadataLocation: string }) =>
    run(options, async (session) => {
      const { register } = await import('./commands/register.ts');
      return register(table, options.metadataLocation, session);
    }),
  );

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  exitCode = error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
}
process.exitCode = exitCode;

function tableCommand(name: string, description: string): Command {
  return catalogCommand(name, description).argument('<table>', 'namespace.table');
}

/** What all commands have that rewrite something. */
function rewriteCommand(command: Command): Command {
  return command
    .option('--dry-run', 'print the plan, the reasons and a price; write nothing', false)
    .option('--commit-interval-ms <ms>', "wait this long after Firn's last commit", milliseconds)
    .option(
      '--wap-wait-ms <ms>',
      'let unpublished work hold the commit back this long',
      milliseconds,
    );
}

function rewriteRequest(table: string, options: RewriteOptions) {
  const { dryRun, branch, option, minFileAgeMs, commitIntervalMs, wapWaitMs } = options;
  const guards = {
    ...(minFileAgeMs === undefined ? {} : { minFileAgeMs }),
    ...(commitIntervalMs === undefined ? {} : { commitIntervalMs }),
    ...(wapWaitMs === undefined ? {} : { wapWaitMs }),
  };
  return { table, dryRun, branch, optionTexts: option, guards };
}

function catalogCommand(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .addOption(
      new Option(
        '--catalog <url>',
        'dynamodb://REGION/TABLE[?ledger=TABLE][&state=s3://BUCKET/PREFIX/][&endpoint=URL][&s3-endpoint=URL] ' +
          'or file:FOLDER (default: $FIRN_CATALOG)',
      ),
    )
    .option('--json', 'print one JSON document instead of text', false);
}

async function run(
  options: SessionOptions,
  command: (session: Session) => Promise<ExitCode>,
): Promise<void> {
  let session: Session | undefined;
  try {
    const { openSession } = await import('./session.ts');
    session = openSession(options, config);
    exitCode = await command(session);
  } catch (error) {
    session?.progress.clear();
    const report = reportError(error, options.catalog ?? config.catalogUrl);
    exitCode = report.exitCode;
    if (options.json) process.stdout.write(`${serializeJson(report.json, 2)}\n`);
    else process.stderr.write(`${report.text}\n`);
  }
}

interface RewriteOptions extends SessionOptions {
  readonly dryRun: boolean;
  readonly branch: string;
  readonly option: readonly string[];
  readonly minFileAgeMs?: number;
  readonly commitIntervalMs?: number;
  readonly wapWaitMs?: number;
}

function milliseconds(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is not a whole number of milliseconds.');
}

function count(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is not a whole number from 1 to 9999.');
}

function collect(value: string, values: readonly string[]): string[] {
  return [...values, value];
}

/** Whoever reads the answer may stop early, as `head` does; that must not end a run under way. */
function ignoreClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
