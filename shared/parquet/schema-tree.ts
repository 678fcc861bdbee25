import { IcebergError } from '../base/index.ts';
import type { ConvertedType, LogicalType, PhysicalType, SchemaElement } from './metadata-types.ts';

/** Groups inside one another. A list or map takes two, so this allows fields nested twenty deep. */
const SCHEMA_DEPTH_MAX = 40;

/** Groups and leaves of one schema. Paths are kept for each, so this bounds memory. */
const SCHEMA_ELEMENTS_MAX = 100_000;

/** A group or leaf in its place. */
export interface SchemaNode {
  readonly element: SchemaElement;
  /** Names from below the root; empty for the root. */
  readonly path: readonly string[];
  /** The field id at each step of `path`, where there is one. */
  readonly fieldIds: readonly (number | undefined)[];
  readonly maxDefinitionLevel: number;
  readonly maxRepetitionLevel: number;
  /** Empty for a leaf. */
  readonly children: readonly SchemaNode[];
  /** Present on leaves only. */
  readonly leaf?: SchemaLeaf;
}

/** A column of the file. */
export interface SchemaLeaf {
  /** Position among the leaves, thus among the column chunks of each row group. */
  readonly columnIndex: number;
  readonly path: readonly string[];
  readonly fieldIds: readonly (number | undefined)[];
  readonly element: SchemaElement;
  readonly physicalType: PhysicalType;
  /** Present for FIXED_LEN_BYTE_ARRAY, where it is at least 1. */
  readonly typeLength?: number;
  readonly logicalType?: LogicalType;
  readonly convertedType?: ConvertedType;
  readonly maxDefinitionLevel: number;
  readonly maxRepetitionLevel: number;
}

export interface SchemaTree {
  readonly root: SchemaNode;
  /** In depth-first order. */
  readonly leaves: readonly SchemaLeaf[];
}

/**
 * Builds the tree that a depth-first list of elements stands for.
 *
 * @throws invalid-data — when child counts do not add up, or an element is neither group nor leaf
 * @throws unsupported — when the schema is larger or deeper than the limits
 * @see Parquet format, "Nested Encoding"
 */
export function buildSchemaTree(elements: readonly SchemaElement[], subject: string): SchemaTree {
  if (elements.length > SCHEMA_ELEMENTS_MAX) {
    throw beyond(subject, 'elements', elements.length, SCHEMA_ELEMENTS_MAX);
  }
  const builder = new TreeBuilder(elements, subject);
  const root = builder.build({ path: [], fieldIds: [], definitionLevel: 0, repetitionLevel: 0 });
  if (builder.elementIndex !== elements.length) {
    const found = `the tree ends after ${builder.elementIndex} of ${elements.length} elements`;
    throw new IcebergError('invalid-data', `${subject}: schema: ${found}`);
  }
  return { root, leaves: builder.leaves };
}

interface Position {
  readonly path: readonly string[];
  readonly fieldIds: readonly (number | undefined)[];
  readonly definitionLevel: number;
  readonly repetitionLevel: number;
}

class TreeBuilder {
  readonly #elements: readonly SchemaElement[];
  readonly #subject: string;
  readonly leaves: SchemaLeaf[] = [];
  elementIndex = 0;

  constructor(elements: readonly SchemaElement[], subject: string) {
    this.#elements = elements;
    this.#subject = subject;
  }

  build(parent: Position): SchemaNode {
    const element = this.#elements[this.elementIndex];
    if (element === undefined) throw this.#invalid('children are missing at the end');
    const isRoot = this.elementIndex === 0;
    const position = isRoot ? parent : this.#descend(parent, element);
    this.elementIndex++;
    if (position.path.length > SCHEMA_DEPTH_MAX) {
      throw beyond(this.#subject, 'levels', position.path.length, SCHEMA_DEPTH_MAX);
    }
    const children: SchemaNode[] = [];
    const childCount = this.#childCount(element, isRoot);
    for (let index = 0; index < childCount; index++) children.push(this.build(position));
    return {
      element,
      path: position.path,
      fieldIds: position.fieldIds,
      maxDefinitionLevel: position.definitionLevel,
      maxRepetitionLevel: position.repetitionLevel,
      children,
      ...(element.type === undefined || isRoot ? {} : { leaf: this.#leaf(element, position) }),
    };
  }

  #descend(parent: Position, element: SchemaElement): Position {
    const { repetitionType } = element;
    if (repetitionType === undefined) throw this.#invalid('repetition_type is missing');
    return {
      path: [...parent.path, element.name],
      fieldIds: [...parent.fieldIds, element.fieldId],
      definitionLevel: parent.definitionLevel + (repetitionType === 'REQUIRED' ? 0 : 1),
      repetitionLevel: parent.repetitionLevel + (repetitionType === 'REPEATED' ? 1 : 0),
    };
  }

  #childCount(element: SchemaElement, isRoot: boolean): number {
    const childCount = element.numChildren ?? 0;
    const remaining = this.#elements.length - this.elementIndex;
    if (childCount < 0 || childCount > remaining) {
      throw this.#invalid(`num_children ${childCount} with ${remaining} elements remaining`);
    }
    if (element.type !== undefined && !isRoot && childCount > 0) {
      throw this.#invalid(`a leaf has ${childCount} children`);
    }
    return childCount;
  }

  #leaf(element: SchemaElement, position: Position): SchemaLeaf {
    const { type, typeLength, logicalType, convertedType } = element;
    if (type === 'FIXED_LEN_BYTE_ARRAY' && (typeLength === undefined || typeLength < 1)) {
      throw this.#invalid(`type_length ${typeLength} of a FIXED_LEN_BYTE_ARRAY`);
    }
    const leaf: SchemaLeaf = {
      columnIndex: this.leaves.length,
      path: position.path,
      fieldIds: position.fieldIds,
      element,
      physicalType: type!,
      ...(type === 'FIXED_LEN_BYTE_ARRAY' ? { typeLength: typeLength! } : {}),
      ...(logicalType === undefined ? {} : { logicalType }),
      ...(convertedType === undefined ? {} : { convertedType }),
      maxDefinitionLevel: position.definitionLevel,
      maxRepetitionLevel: position.repetitionLevel,
    };
    this.leaves.push(leaf);
    return leaf;
  }

  #invalid(problem: string): IcebergError {
    return new IcebergError('invalid-data', `${this.#subject}: schema: ${problem}`, {
      elementIndex: this.elementIndex,
    });
  }
}

function beyond(subject: string, what: string, count: number, limit: number): IcebergError {
  return new IcebergError(
    'unsupported',
    `${subject}: schema: ${count} ${what} exceed the limit of ${limit}`,
  );
}
