import { malformedProperties, unknownFirnProperties } from '../../shared/iceberg/index.ts';

/**
 * One line for each table property that does not do what its owner may think: `firn.*` properties that Firn does
 * not know, most likely misspelt, and values that cannot be read.
 */
export function propertyWarnings(properties: Readonly<Record<string, string>>): readonly string[] {
  const unknown = unknownFirnProperties(properties).map(
    (key) => `table property ${key} is not known to Firn`,
  );
  return [...unknown, ...malformedProperties(properties)];
}
