import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';
import { importSpecifiers, type SourceText, scanSource } from './support/source-text.ts';

const ROOT = join(import.meta.dirname, '..');
const PRODUCT_FOLDERS = ['shared', 'functions', 'cli', 'local', 'events'];
const TEST_FOLDERS = ['test', 'bench'];

/** From the ground up. A module imports from rows before its own only; `local` may import functions, too. */
const ROWS: readonly (readonly string[])[] = [
  ['shared/base'],
  ['shared/bytes', 'shared/compress', 'shared/logging', 'shared/pricing', 'shared/display'],
  [
    'shared/avro',
    'shared/parquet',
    'shared/puffin',
    'shared/roaring',
    'shared/theta',
    'shared/storage',
    'shared/dynamodb',
    'shared/queue',
  ],
  ['shared/iceberg'],
  ['shared/catalog', 'shared/datafile', 'shared/guards', 'shared/ledger'],
  ['shared/deletes'],
  ['shared/table', 'shared/warehouse'],
  ['shared/maintenance'],
  ['shared/operations', 'events'],
  ['shared/routing'],
  ['shared/deployment'],
  ['shared/operation-function'],
  ['functions', 'cli'],
  ['local'],
];

/** Rows of the format libraries: they do not log. */
const SILENT_ROW_LAST = 3;

/** Third-party packages by the module that may import them; of `@types/*` packages, types only. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'shared/compress': ['lz4-napi', 'snappy'],
  'shared/logging': ['pino'],
  'shared/avro': ['avsc'],
  'shared/parquet': ['hyparquet'],
  'shared/storage': ['@aws-sdk/client-s3', '@smithy/node-http-handler'],
  'shared/dynamodb': ['@aws-sdk/client-dynamodb', '@smithy/node-http-handler'],
  'shared/queue': ['@aws-sdk/client-sqs', '@smithy/node-http-handler'],
  'shared/catalog': ['@aws-sdk/client-dynamodb'],
  'shared/ledger': ['@aws-sdk/client-dynamodb'],
  'shared/datafile': ['hyparquet'],
  'shared/deployment': ['zod'],
  'shared/operation-function': ['aws-lambda'],
  events: ['zod'],
  functions: ['aws-lambda'],
  cli: ['commander', 'zod'],
  local: [
    'aws-lambda',
    '@aws-sdk/client-dynamodb',
    '@duckdb/node-api',
    'dynalite',
    'hyparquet',
    'hyparquet-writer',
  ],
};

/** What only certain files may say, and why each of them may. */
const RESERVED: readonly {
  readonly what: string;
  readonly pattern: RegExp;
  readonly folders: readonly string[];
  readonly allowed: RegExp;
}[] = [
  {
    what: 'JSON.parse',
    pattern: /\bJSON\.parse\b/,
    folders: ['shared'],
    allowed: /^shared\/base\/json\.ts$/,
  },
  {
    what: 'the wall clock',
    pattern: /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\bhrtime\b/,
    folders: PRODUCT_FOLDERS,
    allowed: /^shared\/base\/clock\.ts$/,
  },
  {
    what: 'timers',
    pattern: /\bset(?:Timeout|Interval|Immediate)\s*\(/,
    folders: PRODUCT_FOLDERS,
    allowed: /^shared\/base\/clock\.ts$/,
  },
  {
    what: 'chance',
    pattern:
      /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\brandomFill(?:Sync)?\b|\brandomInt\s*\(/,
    folders: PRODUCT_FOLDERS,
    allowed: /^shared\/base\/random\.ts$/,
  },
  {
    what: 'the environment',
    pattern: /\bprocess\s*(?:\.\s*env\b|\[)/,
    folders: [...PRODUCT_FOLDERS, ...TEST_FOLDERS],
    allowed: /^(?:functions\/[^/]+|cli)\/config\.ts$|^(?:test|bench)\/(?:.+\/)?config\.ts$/,
  },
  {
    what: 'the console',
    pattern: /\bconsole\.\w/,
    folders: [...PRODUCT_FOLDERS, ...TEST_FOLDERS],
    allowed: /^$/,
  },
  {
    // The command line's parser reports the one exception as a usage error.
    what: 'errors without a kind',
    pattern:
      /\bthrow new (?!IcebergError\b|AssertionFailed\b|InvalidArgumentError\b)\w*(?:Error|Exception|Failed)?\b/,
    folders: PRODUCT_FOLDERS,
    allowed: /^$/,
  },
  {
    what: 'assertion errors of its own',
    pattern: /\bnew AssertionFailed\b/,
    folders: PRODUCT_FOLDERS,
    allowed: /^shared\/base\/assert\.ts$/,
  },
];

interface Source {
  /** From the project's root, with forward slashes. */
  readonly path: string;
  readonly text: SourceText;
  /** Relative imports, as paths from the project's root. */
  readonly imports: readonly string[];
  /** Names of packages that are imported. */
  readonly packages: readonly string[];
}

/** Its string literals look like imports. */
const SCANNER_TEST = 'test/support/source-text.test.ts';

const sources = [...PRODUCT_FOLDERS, ...TEST_FOLDERS]
  .flatMap(readSources)
  .filter(({ path }) => path !== SCANNER_TEST);
const productSources = sources.filter(({ path }) => isIn(path, PRODUCT_FOLDERS));

describe('modules', () => {
  test('every module has a row', () => {
    const unknown = productSources.filter(({ path }) => rowOf(path) < 0);

    assert.deepEqual(paths(unknown), []);
  });

  test('a module imports from lower rows only', () => {
    const wrong = crossings().filter(({ from, to }) => !isDownward(from, to));

    assert.deepEqual(wrong.map(describeCrossing), []);
  });

  test('a module imports others through their index.ts only', () => {
    const isEntry = /(?:^|\/)index\.ts$|^functions\/[^/]+\/handler\.ts$|^events\/.+\/schema\.ts$/;
    const wrong = crossings().filter(({ to }) => !isEntry.test(to));

    assert.deepEqual(wrong.map(describeCrossing), []);
  });

  test('nothing imports tests or benches', () => {
    const wrong = productSources.flatMap(({ path, imports }) =>
      imports.filter((to) => isIn(to, TEST_FOLDERS)).map((to) => `${path} -> ${to}`),
    );

    assert.deepEqual(wrong, []);
  });

  test('formats and the specification do not log', () => {
    const wrong = crossings().filter(
      ({ from, to }) => rowOf(from) <= SILENT_ROW_LAST && moduleOf(to) === 'shared/logging',
    );

    assert.deepEqual(wrong.map(describeCrossing), []);
  });

  test('a third-party package is imported where it belongs', () => {
    const wrong = productSources.flatMap(({ path, packages }) => {
      const allowed = PACKAGES[familyOf(path)] ?? [];
      return packages.filter((name) => !allowed.includes(name)).map((name) => `${path} -> ${name}`);
    });

    assert.deepEqual(wrong, []);
  });
});

describe('files', () => {
  test('every import leads to a file', () => {
    const known = new Set(sources.map(({ path }) => path));
    const broken = sources.flatMap(({ path, imports }) =>
      imports.filter((to) => to.endsWith('.ts') && !known.has(to)).map((to) => `${path} -> ${to}`),
    );

    assert.deepEqual(broken, []);
  });

  test('every file of the product is reached from a command, a handler or a bench', () => {
    const roots = [
      ...scriptFiles(),
      ...paths(sources).filter((path) =>
        /^functions\/[^/]+\/handler\.ts$|^bench\/[^/]+\.ts$/.test(path),
      ),
    ];

    const reached = reachableFrom(roots);

    assert.deepEqual(
      paths(productSources).filter((path) => !reached.has(path)),
      [],
    );
  });

  test('every file of the tests is reached from a test or a command', () => {
    const roots = [
      ...scriptFiles(),
      ...paths(sources).filter((path) => /\.test\.ts$|^bench\/[^/]+\.ts$/.test(path)),
    ];

    const reached = reachableFrom(roots);

    assert.deepEqual(
      paths(sources).filter((path) => isIn(path, TEST_FOLDERS) && !reached.has(path)),
      [],
    );
  });
});

describe('reserved words', () => {
  for (const { what, pattern, folders, allowed } of RESERVED) {
    test(`${what}: only where the guide says`, () => {
      const wrong = sources
        .filter(({ path }) => isIn(path, folders) && !allowed.test(path))
        .filter(({ text }) => pattern.test(text.codeOnly));

      assert.deepEqual(paths(wrong), []);
    });
  }

  test('node:timers and the env of node:process are not imported around those rules', () => {
    const timers = /from 'node:timers(?:\/promises)?'/;
    const env =
      /import\s*\{[^}]*\benv\b[^}]*\}\s*from 'node:process'|import \w+ from 'node:process'/;
    const wrong = productSources.filter(
      ({ path, text }) =>
        (timers.test(text.withoutComments) && path !== 'shared/base/clock.ts') ||
        env.test(text.withoutComments),
    );

    assert.deepEqual(paths(wrong), []);
  });
});

describe('dependencies', () => {
  const declared = readDeclaredDependencies();

  test('versions are exact', () => {
    const loose = Object.entries(declared).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(version),
    );

    assert.deepEqual(loose, []);
  });

  test('the README has one line for each, with its version and a reason', () => {
    assert.deepEqual(readReadmeDependencies(), declared);
  });

  test('what the product imports is declared', () => {
    const imported = new Set(productSources.flatMap(({ packages }) => packages));
    const missing = [...imported].filter(
      (name) => !(name in declared) && !(`@types/${name}` in declared),
    );

    assert.deepEqual(missing, []);
  });
});

function readSources(folder: string): Source[] {
  let entries: string[];
  try {
    entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  } catch {
    // The folder comes with the issue that builds it.
    return [];
  }
  return entries
    .filter((entry) => entry.endsWith('.ts') && !entry.endsWith('.d.ts'))
    .map((entry) => readSource(`${folder}/${entry.replaceAll('\\', '/')}`))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

function readSource(path: string): Source {
  const text = scanSource(readFileSync(join(ROOT, path), 'utf8'));
  const specifiers = importSpecifiers(text);
  return {
    path,
    text,
    imports: specifiers
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => normalize(join(dirname(path), specifier)).replaceAll('\\', '/')),
    packages: specifiers
      .filter((specifier) => !/^(?:\.|node:)/.test(specifier))
      .map((specifier) => specifier.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? specifier),
  };
}

/** The unit that imports freely within itself: `shared/avro`, `functions/compute-stats`, `cli`. */
function moduleOf(path: string): string {
  const [first = '', second = '', third = ''] = path.split('/');
  if (first === 'shared' && second === 'operations') return `${first}/${second}/${third}`;
  return first === 'shared' || first === 'functions' ? `${first}/${second}` : first;
}

/** The name that `ROWS` and `PACKAGES` have for a file's module. */
function familyOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'shared' ? `${first}/${second}` : first;
}

function rowOf(path: string): number {
  return ROWS.findIndex((row) => row.includes(familyOf(path)));
}

interface Crossing {
  readonly from: string;
  readonly to: string;
}

/** Imports from one module of the product to another. */
function crossings(): Crossing[] {
  return productSources.flatMap(({ path, imports }) =>
    imports
      .filter((to) => isIn(to, PRODUCT_FOLDERS) && moduleOf(to) !== moduleOf(path))
      .map((to) => ({ from: path, to })),
  );
}

function isDownward(from: string, to: string): boolean {
  return rowOf(to) < rowOf(from) && familyOf(to) !== 'cli';
}

function describeCrossing({ from, to }: Crossing): string {
  return `${from} -> ${to}`;
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

function paths(some: readonly Source[]): string[] {
  return some.map(({ path }) => path);
}

function reachableFrom(roots: readonly string[]): Set<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set<string>();
  const open = [...roots];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const source = byPath.get(path);
    if (source !== undefined) open.push(...source.imports, ...startedBy(source));
  }
  return reached;
}

/** Files of the same folder that a file names as text, to start them as processes of their own. */
function startedBy({ path, text }: Source): string[] {
  const names = text.withoutComments.matchAll(/['}]([\w-]+(?:\.[\w-]+)*\.ts)['`]/g);
  return [...names].map(([, name = '']) => join(dirname(path), name));
}

interface PackageJson {
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

function readPackageJson(): PackageJson {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as PackageJson;
}

/** Sources that the commands of package.json name. */
function scriptFiles(): string[] {
  return Object.values(readPackageJson().scripts).flatMap(
    (script) => script.match(/[\w/.-]+\.ts\b/g) ?? [],
  );
}

function readDeclaredDependencies(): Readonly<Record<string, string>> {
  const { dependencies, devDependencies, optionalDependencies } = readPackageJson();
  return { ...dependencies, ...devDependencies, ...optionalDependencies };
}

/** Rows `| package | version | why |` of the README; a row without a reason does not count. */
function readReadmeDependencies(): Readonly<Record<string, string>> {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const rows = readme.matchAll(/^\| `([^`|]+)` \| (\d[^|\s]*) \| *[^|\s][^|]* \|$/gm);
  return Object.fromEntries([...rows].map(([, name = '', version = '']) => [name, version]));
}
