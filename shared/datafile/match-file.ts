import { assert, IcebergError } from '../base/index.ts';
import {
  encodeSingleValue,
  type FormatVersion,
  type IcebergType,
  isPrimitiveType,
  type NestedField,
  type PrimitiveType,
  type SingleValue,
  singleValueFromJson,
} from '../iceberg/index.ts';
import type { ParquetFile, SchemaLeaf, SchemaNode } from '../parquet/index.ts';
import type { ValueConversion } from './convert-values.ts';
import type { FieldIds } from './field-ids.ts';
import { plainForm } from './fill-value.ts';
import { descend, descendRepeated, isIdentity, type LevelMap, TOP_LEVEL } from './level-map.ts';
import { matchType } from './match-type.ts';
import {
  LAST_UPDATED_SEQUENCE_NUMBER_FIELD_ID,
  memberField,
  ROW_ID_FIELD_ID,
} from './parquet-schema.ts';
import type { TargetSchema } from './target-schema.ts';

/** Where the values of one column of the outputs come from. */
export type LeafSource =
  /** A column of the file, whose chunks can be taken as they are. */
  | { readonly kind: 'copy'; readonly leaf: SchemaLeaf }
  | {
      readonly kind: 'convert';
      readonly leaf: SchemaLeaf;
      readonly levels: LevelMap;
      /** Absent where only levels change. */
      readonly convert?: ValueConversion;
    }
  | FilledLeaf
  | {
      readonly kind: 'lineage';
      readonly column: 'row-id' | 'last-updated-sequence-number';
      /** Absent where the file does not store the column. */
      readonly leaf?: SchemaLeaf;
    };

/** A column that the file lacks: its default or null wherever the struct around it is present. */
export interface FilledLeaf {
  readonly kind: 'fill';
  /** In PLAIN form; absent for null. */
  readonly value?: Uint8Array;
  /**
   * Shows where the struct around the column is present; absent for columns at the top, which every row has.
   * Entries above `repetitionLevel` lie deeper than that struct and do not count.
   */
  readonly shape?: {
    readonly leaf: SchemaLeaf;
    readonly levels: LevelMap;
    readonly repetitionLevel: number;
  };
}

export interface MatchOptions {
  readonly target: TargetSchema;
  readonly formatVersion: FormatVersion;
  /** Values of identity-partitioned fields by field id: what columns missing in the file hold. */
  readonly partitionValues: ReadonlyMap<number, SingleValue | null>;
}

/**
 * Finds for each column of the table's files what a file has for it, by field id.
 *
 * @returns one source for each leaf of the target, in order
 * @throws unsupported — with the column and the reason, when the file cannot be rewritten under the schema
 */
export function matchFile(
  file: ParquetFile,
  fieldIds: FieldIds,
  options: MatchOptions,
): readonly LeafSource[] {
  const { target } = options;
  const matcher = new FileMatcher(file, fieldIds, options);
  const top = { node: file.root, levels: TOP_LEVEL };
  for (const { field, node } of target.columns) matcher.matchField(field, node, top);
  return target.leaves.map(({ columnIndex }) => {
    const source = matcher.sources[columnIndex];
    assert(source !== undefined, `datafile: column ${columnIndex} has no source`);
    return source;
  });
}

/** A struct of the file that is being walked, present at `levels`. */
interface Parent {
  readonly node: SchemaNode;
  readonly levels: LevelMap;
}

class FileMatcher {
  readonly sources: LeafSource[] = [];
  readonly #file: ParquetFile;
  readonly #fieldIds: FieldIds;
  readonly #options: MatchOptions;

  constructor(file: ParquetFile, fieldIds: FieldIds, options: MatchOptions) {
    this.#file = file;
    this.#fieldIds = fieldIds;
    this.#options = options;
  }

  matchField(field: NestedField, target: SchemaNode, parent: Parent): void {
    const node = this.#childById(parent.node, field.fieldId);
    const lineage = lineageColumn(field.fieldId);
    if (lineage !== undefined) this.#matchLineage(lineage, target, node);
    else if (node === undefined) this.#fill(field, target, parent);
    else this.#matchPresent(field.type, target, this.#descend(parent, node, target));
  }

  #matchPresent(type: IcebergType, target: SchemaNode, at: Parent): void {
    switch (type.kind) {
      case 'struct':
        this.#matchStruct(type, target, at);
        break;
      case 'list':
        this.#matchList(type, target, at);
        break;
      case 'map':
        this.#matchMap(type, target, at);
        break;
      case 'variant':
        this.#matchVariant(target, at);
        break;
      default:
        this.#matchPrimitive(type, target, at);
    }
  }

  #matchStruct(
    type: IcebergType & { readonly kind: 'struct' },
    target: SchemaNode,
    at: Parent,
  ): void {
    if (at.node.leaf !== undefined || isAnnotated(at.node)) throw this.#unlike('struct', at.node);
    for (const child of target.children) {
      const field = type.fields.find(({ fieldId }) => fieldId === child.element.fieldId);
      assert(field !== undefined, `datafile: column ${child.path.join('.')} has no field`);
      this.matchField(field, child, at);
    }
  }

  #matchList(type: IcebergType & { readonly kind: 'list' }, target: SchemaNode, at: Parent): void {
    const repeated = at.node.children[0];
    if (at.node.children.length !== 1 || repeated?.element.repetitionType !== 'REPEATED') {
      throw this.#unlike('list', at.node);
    }
    const entries = { node: repeated, levels: descendRepeated(at.levels) };
    const field = memberField(type, 'element');
    const targetElement = target.children[0]!.children[0]!;
    if (!isElementItself(repeated, at.node)) {
      this.#matchMember(field, targetElement, entries);
      return;
    }
    this.#requireFieldId(repeated, field);
    const isOptional = { source: false, target: !field.isRequired };
    const levels = descend(entries.levels, isOptional);
    this.#matchPresent(field.type, targetElement, { node: repeated, levels });
  }

  #matchMap(type: IcebergType & { readonly kind: 'map' }, target: SchemaNode, at: Parent): void {
    const repeated = at.node.children[0];
    const isMap = at.node.children.length === 1 && repeated?.children.length === 2;
    if (!isMap || repeated.element.repetitionType !== 'REPEATED')
      throw this.#unlike('map', at.node);
    const entries = { node: repeated, levels: descendRepeated(at.levels) };
    const [targetKey, targetValue] = target.children[0]!.children;
    this.#matchMember(memberField(type, 'key'), targetKey!, entries);
    this.#matchMember(memberField(type, 'value'), targetValue!, entries);
  }

  #matchMember(field: NestedField, target: SchemaNode, entries: Parent): void {
    const node = this.#childById(entries.node, field.fieldId);
    if (node === undefined) {
      throw this.#unsupported(entries.node, `no ${field.name} with field id ${field.fieldId}`);
    }
    this.#matchPresent(field.type, target, this.#descend(entries, node, target));
  }

  /** Both parts by name: they have no field ids. */
  #matchVariant(target: SchemaNode, at: Parent): void {
    const { children } = at.node;
    if (children.some(({ element }) => element.name === 'typed_value')) {
      throw this.#unsupported(at.node, 'the variant is shredded');
    }
    for (const part of target.children) {
      const node = children.find(({ element }) => element.name === part.element.name);
      const isBinary = node?.leaf?.physicalType === 'BYTE_ARRAY';
      if (!isBinary || children.length !== 2) throw this.#unlike('variant', at.node);
      const { levels } = this.#descend(at, node, part);
      this.#set(part, sameValues(node.leaf!, levels));
    }
  }

  #matchPrimitive(type: PrimitiveType, target: SchemaNode, { node, levels }: Parent): void {
    if (node.leaf === undefined) throw this.#unlike(type.kind, node);
    const { leaf } = node;
    const match = matchType(leaf, type, this.#options.formatVersion);
    if (match.kind === 'none') throw this.#unlike(type.kind, node);
    const { convert } = match;
    this.#set(
      target,
      convert ? { kind: 'convert', leaf, levels, convert } : sameValues(leaf, levels),
    );
  }

  #matchLineage(
    column: 'row-id' | 'last-updated-sequence-number',
    target: SchemaNode,
    node: SchemaNode | undefined,
  ): void {
    const leaf = node?.leaf;
    const isUsable =
      node === undefined || (leaf?.physicalType === 'INT64' && leaf.maxRepetitionLevel === 0);
    if (!isUsable) throw this.#unlike('long', node);
    this.#set(target, { kind: 'lineage', column, ...(leaf && { leaf }) });
  }

  #fill(field: NestedField, target: SchemaNode, parent: Parent): void {
    const value = this.#constantOf(field);
    if (value === undefined && field.isRequired) {
      const problem = 'the column is required, has no default, and is missing in the file';
      throw this.#unsupported(target, problem);
    }
    const shape = this.#shapeOf(parent);
    const source = { kind: 'fill', ...(value && { value }), ...(shape && { shape }) } as const;
    for (const leaf of leavesBelow(target)) this.sources[leaf.columnIndex] = source;
  }

  /** The partition value, else the initial default, in PLAIN form; `undefined` for null. */
  #constantOf(field: NestedField): Uint8Array | undefined {
    const { type, initialDefault } = field;
    const partitionValue = this.#options.partitionValues.get(field.fieldId);
    if (partitionValue === null) return undefined;
    if (partitionValue !== undefined && isPrimitiveType(type)) {
      return plainForm(type, encodeSingleValue(type, partitionValue));
    }
    if (initialDefault === undefined) return undefined;
    if (!isPrimitiveType(type)) {
      const problem = `default of a ${type.kind}`;
      throw new IcebergError('unsupported', `column ${field.name}: ${problem} is not supported`);
    }
    const value = singleValueFromJson(type, initialDefault, `column ${field.name}`);
    return value === null ? undefined : plainForm(type, encodeSingleValue(type, value));
  }

  #shapeOf({ node, levels }: Parent): FilledLeaf['shape'] {
    if (node === this.#file.root) return undefined;
    const [leaf] = leavesBelow(node).sort(
      (one, other) => one.maxRepetitionLevel - other.maxRepetitionLevel,
    );
    if (leaf === undefined) throw this.#unsupported(node, 'the group has no columns');
    return { leaf, levels, repetitionLevel: node.maxRepetitionLevel };
  }

  #descend(parent: Parent, node: SchemaNode, target: SchemaNode): Parent {
    const { repetitionType } = node.element;
    if (repetitionType === 'REPEATED') {
      throw this.#unsupported(node, 'the field is repeated outside a list or map');
    }
    const isOptional = {
      source: repetitionType === 'OPTIONAL',
      target: target.element.repetitionType === 'OPTIONAL',
    };
    return { node, levels: descend(parent.levels, isOptional) };
  }

  #set(target: SchemaNode, source: LeafSource): void {
    assert(target.leaf !== undefined, 'datafile: a source for a group');
    this.sources[target.leaf.columnIndex] = source;
  }

  #childById(node: SchemaNode, fieldId: number): SchemaNode | undefined {
    return node.children.find((child) => this.#fieldIds.get(child) === fieldId);
  }

  #requireFieldId(node: SchemaNode, field: NestedField): void {
    if (this.#fieldIds.get(node) === field.fieldId) return;
    throw this.#unsupported(node, `no ${field.name} with field id ${field.fieldId}`);
  }

  #unlike(kind: string, node: SchemaNode): IcebergError {
    const { type, logicalType, convertedType, typeLength } = node.element;
    const annotation = logicalType?.type ?? convertedType;
    const stored = [type ?? 'group', typeLength, annotation].filter((part) => part !== undefined);
    return this.#unsupported(node, `${stored.join(' ')} does not serve type ${kind}`);
  }

  #unsupported(node: SchemaNode, problem: string): IcebergError {
    const column = node.path.join('.');
    return new IcebergError('unsupported', `${this.#file.location}: column ${column}: ${problem}`);
  }
}

function lineageColumn(fieldId: number): 'row-id' | 'last-updated-sequence-number' | undefined {
  if (fieldId === ROW_ID_FIELD_ID) return 'row-id';
  if (fieldId === LAST_UPDATED_SEQUENCE_NUMBER_FIELD_ID) return 'last-updated-sequence-number';
  return undefined;
}

function sameValues(leaf: SchemaLeaf, levels: LevelMap): LeafSource {
  return isIdentity(levels) ? { kind: 'copy', leaf } : { kind: 'convert', leaf, levels };
}

/** A group that is no struct. */
function isAnnotated({ element }: SchemaNode): boolean {
  return element.logicalType !== undefined || element.convertedType !== undefined;
}

/**
 * Whether the repeated node of a list is its element (two levels, as old writers have it) and not a group
 * around it.
 *
 * @see Parquet format, "Lists", backward-compatibility rules
 */
function isElementItself(repeated: SchemaNode, list: SchemaNode): boolean {
  const { name } = repeated.element;
  return (
    repeated.children.length !== 1 || name === 'array' || name === `${list.element.name}_tuple`
  );
}

function leavesBelow(node: SchemaNode): SchemaLeaf[] {
  return node.leaf !== undefined ? [node.leaf] : node.children.flatMap(leavesBelow);
}
