import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importSpecifiers, scanSource } from './source-text.ts';

describe('scanSource', () => {
  const cases: [string, string, string][] = [
    ['a // Date.now\nb', 'a            \nb', 'a            \nb'],
    ['a /* x */ b', 'a         b', 'a         b'],
    ["x('// no', y)", "x('// no', y)", "x('     ', y)"],
    ['x = "a\\"b" + c', 'x = "a\\"b" + c', 'x = "    " + c'],
    [`\`a \${b("}")} c\` + d`, `\`a \${b("}")} c\` + d`, `\`  \${b(" ")}  \` + d`],
    [`\`a \${\`b \${c}\`} d\``, `\`a \${\`b \${c}\`} d\``, `\`  \${\`  \${c}\`}  \``],
    ["x = /['/]/.test(y) / 2", "x = /['/]/.test(y) / 2", 'x = /    /.test(y) / 2'],
    ['a / b / c', 'a / b / c', 'a / b / c'],
    [`\`\${{ a: {} }.a}\` + b`, `\`\${{ a: {} }.a}\` + b`, `\`\${{ a: {} }.a}\` + b`],
  ];
  for (const [source, withoutComments, codeOnly] of cases) {
    test(source.replace('\n', '\\n'), () => {
      assert.deepEqual(scanSource(source), { withoutComments, codeOnly });
    });
  }
});

test('importSpecifiers finds imports of every form, and paths of workers', () => {
  const source = [
    "import { a } from './a.ts';",
    "import type { b } from '../b/index.ts';",
    "import './effect.ts';",
    'export { c } from "node:fs";',
    "const d = await import('@scope/d/sub.js');",
    "const e = new URL('./worker.ts', import.meta.url);",
    "// import './not-this.ts';",
    "const f = 'from here';",
  ].join('\n');

  assert.deepEqual(importSpecifiers(scanSource(source)), [
    './a.ts',
    '../b/index.ts',
    './effect.ts',
    'node:fs',
    '@scope/d/sub.js',
    './worker.ts',
  ]);
});
