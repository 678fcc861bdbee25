import { IcebergError } from '../base/index.ts';
import type { MappedField } from '../iceberg/index.ts';
import type { ParquetFile, SchemaNode } from '../parquet/index.ts';

/** The field id of each node of a file's schema that has one. */
export type FieldIds = ReadonlyMap<SchemaNode, number>;

/**
 * Field ids as the file carries them, or, if it carries none, as the name mapping gives them.
 *
 * @throws unsupported — when there are neither ids nor a mapping
 * @see Iceberg spec, "Column Projection"
 */
export function fieldIdsOf(
  file: ParquetFile,
  mapping: readonly MappedField[] | undefined,
): FieldIds {
  const fieldIds = new Map<SchemaNode, number>();
  collectStored(file.root, fieldIds);
  if (fieldIds.size > 0) return fieldIds;
  if (mapping === undefined) {
    throw new IcebergError(
      'unsupported',
      `${file.location}: the file has no field ids, and the table has no name mapping`,
    );
  }
  applyMapping(file.root, mapping, fieldIds);
  return fieldIds;
}

function collectStored(node: SchemaNode, fieldIds: Map<SchemaNode, number>): void {
  for (const child of node.children) {
    if (child.element.fieldId !== undefined) fieldIds.set(child, child.element.fieldId);
    collectStored(child, fieldIds);
  }
}

function applyMapping(
  node: SchemaNode,
  mapping: readonly MappedField[],
  fieldIds: Map<SchemaNode, number>,
): void {
  for (const child of node.children) {
    const mapped = mapping.find(({ names }) => names.includes(child.element.name));
    if (mapped === undefined) continue;
    if (mapped.fieldId !== undefined) fieldIds.set(child, mapped.fieldId);
    const members = membersOf(child);
    if (members === undefined) applyMapping(child, mapped.fields, fieldIds);
    else applyToMembers(members, mapped.fields, fieldIds);
  }
}

interface Member {
  readonly name: string;
  readonly node: SchemaNode;
}

/** The members of a list or map under the names that mappings use; `undefined` for other nodes. */
function membersOf(node: SchemaNode): readonly Member[] | undefined {
  const repeated = node.children[0];
  if (repeated?.element.repetitionType !== 'REPEATED' || node.children.length !== 1)
    return undefined;
  const { logicalType, convertedType } = node.element;
  const isMap =
    logicalType?.type === 'MAP' || convertedType === 'MAP' || convertedType === 'MAP_KEY_VALUE';
  const [first, second] = repeated.children;
  if (isMap && first !== undefined && second !== undefined) {
    return [
      { name: 'key', node: first },
      { name: 'value', node: second },
    ];
  }
  return [{ name: 'element', node: repeated.children.length === 1 ? first! : repeated }];
}

function applyToMembers(
  members: readonly Member[],
  mapping: readonly MappedField[],
  fieldIds: Map<SchemaNode, number>,
): void {
  for (const { name, node } of members) {
    const mapped = mapping.find(({ names }) => names.includes(name));
    if (mapped === undefined) continue;
    if (mapped.fieldId !== undefined) fieldIds.set(node, mapped.fieldId);
    const inner = membersOf(node);
    if (inner === undefined) applyMapping(node, mapped.fields, fieldIds);
    else applyToMembers(inner, mapped.fields, fieldIds);
  }
}
