import { z } from 'zod';
import { isIcebergError } from '../shared/base/index.ts';
import { parseTableIdentifier } from '../shared/catalog/index.ts';

/** `namespace.table`, with as many namespace levels as the catalog has. */
export const tableName = z.string().superRefine((text, context) => {
  const problem = tableNameProblem(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

/** Why a text is no name of a table that Firn can address; undefined when it is one. */
export function tableNameProblem(text: string): string | undefined {
  try {
    parseTableIdentifier(text);
    return undefined;
  } catch (error) {
    if (!isIcebergError(error)) throw error;
    return error.message;
  }
}
