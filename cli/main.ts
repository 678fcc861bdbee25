import { Command, CommanderError, Option } from 'commander';
import { compact } from './commands/compact.ts';
import { inspect } from './commands/inspect.ts';
import { register } from './commands/register.ts';
import { readCliConfig } from './config.ts';
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';
import { printError } from './print-error.ts';
import { openSession, type SessionOptions } from './session.ts';

const config = readCliConfig();
let exitCode: ExitCode = EXIT_CODES.done;

const program = new Command('firn')
  .description(
    'Keeps Apache Iceberg tables on S3 healthy: look at tables, compact their data files.',
  )
  .version('0.1.0')
  .showHelpAfterError('(add --help for what is possible)')
  .exitOverride();

tableCommand('inspect', 'show what a table is, how its files are, and what Firn would refuse')
  .option('--no-files', 'read metadata only, no manifests')
  .action((table: string, options: SessionOptions & { files: boolean }) =>
    run(options, () => inspect(table, options, openSession(options, config))),
  );

tableCommand('compact', 'rewrite small and oversized data files, in one commit; deletes nothing')
  .option('--dry-run', 'print the plan, the reasons and a price; write nothing', false)
  .option('--branch <name>', 'the branch to compact', 'main')
  .option(
    '--option <key=value>',
    "one of Iceberg's rewrite options, such as min-input-files=2; may be repeated",
    collect,
    [],
  )
  .action(
    (
      table: string,
      options: SessionOptions & { dryRun: boolean; branch: string; option: string[] },
    ) =>
      run(options, () =>
        compact({ ...options, table, optionTexts: options.option }, openSession(options, config)),
      ),
  );

tableCommand('register', 'add a table that exists as metadata files to the catalog')
  .requiredOption('--metadata-location <location>', 'its current metadata file')
  .action((table: string, options: SessionOptions & { metadataLocation: string }) =>
    run(options, () => register(table, options.metadataLocation, openSession(options, config))),
  );

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  exitCode = error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
}
process.exitCode = exitCode;

function tableCommand(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .argument('<table>', 'namespace.table')
    .addOption(
      new Option(
        '--catalog <url>',
        'dynamodb://REGION/TABLE[?endpoint=URL][&s3-endpoint=URL] or file:FOLDER (default: $FIRN_CATALOG)',
      ),
    )
    .option('--json', 'print one JSON document instead of text', false);
}

async function run(options: SessionOptions, command: () => Promise<ExitCode>): Promise<void> {
  try {
    exitCode = await command();
  } catch (error) {
    exitCode = printError(error, options);
  }
}

function collect(value: string, values: readonly string[]): string[] {
  return [...values, value];
}
