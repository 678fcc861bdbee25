import { unknownFirnProperties } from '../../shared/iceberg/index.ts';

/** One line for each `firn.*` property of a table that Firn does not know, most likely a misspelling. */
export function unknownPropertyWarnings(
  properties: Readonly<Record<string, string>>,
): readonly string[] {
  return unknownFirnProperties(properties).map(
    (key) => `table property ${key} is not known to Firn`,
  );
}
