/** What the architecture test needs to know of a TypeScript source, without a compiler. */
export interface SourceText {
  /** The source with comments blanked out, line by line as before. */
  readonly withoutComments: string;
  /** The same, and the contents of string literals and regular expressions blanked out as well. */
  readonly codeOnly: string;
}

type State =
  | 'code'
  | 'line-comment'
  | 'block-comment'
  | 'single'
  | 'double'
  | 'template'
  | 'regexp';

const CLOSERS: Readonly<Partial<Record<State, string>>> = {
  single: "'",
  double: '"',
  template: '`',
  regexp: '/',
};

const TEMPLATE_OPENER = `$\{`;

/** Tells code from comments, strings and regular expressions. */
export function scanSource(source: string): SourceText {
  let [withoutComments, codeOnly] = ['', ''];
  let state: State = 'code';
  /** Open braces of each template expression that is being read. */
  const templateDepths: number[] = [];
  let isInClass = false;

  const emit = (text: string, kind: 'code' | 'text' | 'comment'): void => {
    const blank = text.replace(/[^\n]/g, ' ');
    withoutComments += kind === 'comment' ? blank : text;
    codeOnly += kind === 'code' ? text : blank;
  };

  for (let index = 0; index < source.length; index++) {
    const char = source[index]!;
    const pair = char + (source[index + 1] ?? '');
    if (state === 'line-comment') {
      if (char === '\n') state = 'code';
      emit(char, 'comment');
    } else if (state === 'block-comment') {
      if (pair === '*/') state = 'code';
      emit(pair === '*/' ? pair : char, 'comment');
      if (pair === '*/') index++;
    } else if (state === 'code') {
      const next = stateAfter(pair, codeOnly);
      const depth = templateDepths.length - 1;
      if (next.endsWith('comment')) {
        emit(pair, 'comment');
        index++;
      } else {
        emit(char, 'code');
      }
      state = next;
      if (state === 'code' && depth >= 0) {
        if (char === '{') templateDepths[depth]!++;
        if (char === '}' && --templateDepths[depth]! === 0) {
          templateDepths.pop();
          state = 'template';
        }
      }
    } else if (char === '\\') {
      emit(pair, 'text');
      index++;
    } else if (state === 'template' && pair === TEMPLATE_OPENER) {
      emit(pair, 'code');
      index++;
      templateDepths.push(1);
      state = 'code';
    } else if (char === CLOSERS[state] && !(state === 'regexp' && isInClass)) {
      emit(char, 'code');
      state = 'code';
    } else {
      if (state === 'regexp' && char === '[') isInClass = true;
      if (state === 'regexp' && char === ']') isInClass = false;
      emit(char, 'text');
    }
  }
  return { withoutComments, codeOnly };
}

/** What begins with these two characters, after the code so far. */
function stateAfter(pair: string, before: string): State {
  if (pair === '//') return 'line-comment';
  if (pair === '/*') return 'block-comment';
  switch (pair[0]) {
    case "'":
      return 'single';
    case '"':
      return 'double';
    case '`':
      return 'template';
    case '/':
      return /(?:^|[(,=:[!&|?{};+*%~^<>-]|\b(?:return|typeof|case|in|of|yield|await))\s*$/.test(
        before.slice(-40),
      )
        ? 'regexp'
        : 'code';
    default:
      return 'code';
  }
}

/** Module specifiers of static and dynamic imports, and relative `.ts` paths in other string literals. */
export function importSpecifiers({ withoutComments }: SourceText): string[] {
  const imports = withoutComments.matchAll(
    /(?:\bfrom|\bimport)\s*\(?\s*(?:'([^'\n]+)'|"([^"\n]+)")/g,
  );
  const paths = withoutComments.matchAll(/'(\.{1,2}\/[^'\n]+\.ts)'/g);
  const specifiers = [...imports, ...paths].map((match) => match[1] ?? match[2] ?? '');
  return [...new Set(specifiers)];
}
