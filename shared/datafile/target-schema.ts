import { assert } from '../base/index.ts';
import type { NestedField, Schema } from '../iceberg/index.ts';
import {
  buildSchemaTree,
  type SchemaElement,
  type SchemaLeaf,
  type SchemaNode,
} from '../parquet/index.ts';
import { isStored, LINEAGE_FIELDS, parquetSchemaFor } from './parquet-schema.ts';

/** The schema of the files to be written, with the fields that its columns stand for. */
export interface TargetSchema {
  readonly elements: readonly SchemaElement[];
  /** The columns at the top, lineage columns included. */
  readonly columns: readonly { readonly field: NestedField; readonly node: SchemaNode }[];
  readonly leaves: readonly SchemaLeaf[];
}

/** @throws unsupported — when the schema cannot be stored in Parquet */
export function targetSchemaFor(
  schema: Schema,
  options: { readonly withLineage: boolean },
): TargetSchema {
  const elements = parquetSchemaFor(schema, options);
  const { root, leaves } = buildSchemaTree(elements, 'schema');
  const fields = options.withLineage ? [...schema.fields, ...LINEAGE_FIELDS] : schema.fields;
  const columns = fields.filter(isStored).map((field, index) => {
    const node = root.children[index];
    assert(node !== undefined, `schema: column ${field.name} is missing`);
    return { field, node };
  });
  return { elements, columns, leaves };
}
