// Columns of the matrix, written once and turned into Iceberg's JSON and Spark's SQL.

/** A primitive by its name in the Iceberg spec, or a nested type; every part is optional unless it says `required`. */
export type ColumnType =
  | string
  | Readonly<{ list: ColumnType; required?: true }>
  | Readonly<{ map: readonly [ColumnType, ColumnType] }>
  | Readonly<{ struct: Readonly<Record<string, ColumnType>> }>;

export type Columns = Readonly<Record<string, ColumnType>>;

function isRequired(type: ColumnType): boolean {
  return typeof type === 'object' && 'required' in type;
}

type Ids = { last: number };

function nextId(ids: Ids): number {
  ids.last += 1;
  return ids.last;
}

function structJson(columns: Columns, ids: Ids): object {
  const fields = Object.entries(columns).map(([name, type]) => ({
    id: nextId(ids),
    name,
    required: isRequired(type),
    type,
  }));
  return {
    type: 'struct',
    fields: fields.map((field) => ({ ...field, type: json(field.type, ids) })),
  };
}

function json(type: ColumnType, ids: Ids): unknown {
  if (typeof type === 'string') return type;
  if ('struct' in type) return structJson(type.struct, ids);
  if ('list' in type) {
    const elementId = nextId(ids);
    const element = json(type.list, ids);
    return { type: 'list', 'element-id': elementId, 'element-required': false, element };
  }
  const keyId = nextId(ids);
  const valueId = nextId(ids);
  const [key, value] = [json(type.map[0], ids), json(type.map[1], ids)];
  return { type: 'map', 'key-id': keyId, 'value-id': valueId, key, value, 'value-required': false };
}

/** The type in the JSON of the Iceberg spec, "Schemas"; nested ids start after lastId. */
export function typeJson(type: ColumnType, lastId = 1_000): unknown {
  return json(type, { last: lastId });
}

/** A schema in the JSON of the Iceberg spec; top-level columns get the ids 1, 2, 3 ... in order. */
export function schemaJson(columns: Columns): object {
  return structJson(columns, { last: 0 });
}

const SPARK_NAMES: Readonly<Record<string, string>> = {
  long: 'BIGINT',
  timestamp: 'TIMESTAMP_NTZ',
  timestamptz: 'TIMESTAMP',
};

/** The type in Spark's SQL. */
export function sparkType(type: ColumnType): string {
  if (typeof type === 'string') return SPARK_NAMES[type] ?? type.toUpperCase();
  if ('list' in type) return `ARRAY<${sparkType(type.list)}>`;
  if ('map' in type) return `MAP<${type.map.map(sparkType).join(', ')}>`;
  const fields = Object.entries(type.struct).map(([name, field]) => `${name}: ${sparkType(field)}`);
  return `STRUCT<${fields.join(', ')}>`;
}

/** The column list of a CREATE TABLE. */
export function sparkColumns(columns: Columns): string {
  return Object.entries(columns)
    .map(([name, type]) => `${name} ${sparkType(type)}${isRequired(type) ? ' NOT NULL' : ''}`)
    .join(', ');
}
