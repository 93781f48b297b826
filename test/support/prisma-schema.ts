/** A column as `prisma/schema.prisma` describes it, in PostgreSQL's words. */
interface SchemaColumn {
  /** As `format_type` prints it: `text`, `timestamp with time zone`, `text[]`. */
  readonly type: string;
  readonly nullable: boolean;
  /** As the schema says it (`autoincrement()`, `"open"`, an expression), without blanks and casts; null for none. */
  readonly fallback: string | null;
}

/** A foreign key: columns, where they lead, and what becomes of the row. */
interface SchemaRelation {
  readonly columns: readonly string[];
  readonly to: string;
  readonly onDelete: string;
}

export interface SchemaTable {
  readonly columns: Readonly<Record<string, SchemaColumn>>;
  /** Columns of the primary key, in order. */
  readonly primaryKey: readonly string[];
  /** Each unique constraint or full unique index as its columns joined by commas, sorted. */
  readonly unique: readonly string[];
  /** Each plain index as its name and columns with their order, sorted. */
  readonly indexes: readonly string[];
  /** By name. */
  readonly relations: Readonly<Record<string, SchemaRelation>>;
}

export type Schema = Readonly<Record<string, SchemaTable>>;

/** Prisma's native types (`@db.…`) that we use, and the default of each scalar. Prisma docs, "PostgreSQL connector". */
const nativeTypes: Readonly<Record<string, string>> = {
  Text: 'text',
  Uuid: 'uuid',
  Integer: 'integer',
  SmallInt: 'smallint',
  BigInt: 'bigint',
  DoublePrecision: 'double precision',
  Real: 'real',
  Boolean: 'boolean',
  Date: 'date',
  Json: 'json',
  JsonB: 'jsonb',
  ByteA: 'bytea',
  Xid: 'xid',
  Inet: 'inet',
};
const scalarTypes: Readonly<Record<string, string>> = {
  String: 'text',
  Int: 'integer',
  BigInt: 'bigint',
  Float: 'double precision',
  Decimal: 'numeric(65,30)',
  Boolean: 'boolean',
  DateTime: 'timestamp(3) without time zone',
  Json: 'jsonb',
  Bytes: 'bytea',
};

/**
 * Reads the part of Prisma's schema language that says what tables look like: models, fields with type, `?`, `[]`,
 * `@id`, `@unique`, `@map`, `@db.…`, and `@@id`, `@@unique`, `@@map`, `@@ignore`; enums count as their mapped name.
 *
 * @throws Error with the line when it meets a field it does not understand: skipping one would let the check pass.
 */
export function parsePrismaSchema(text: string): Schema {
  const blocks = blocksOf(text);
  const models = new Set(blocks.filter((block) => block.kind === 'model').map((block) => block.name));
  const enums = new Map(
    blocks
      .filter((block) => block.kind === 'enum')
      .map((block) => [block.name, mapOf(block.lines) ?? block.name]),
  );
  const tables: Record<string, SchemaTable> = {};
  for (const block of blocks) {
    if (block.kind === 'model')
      tables[mapOf(block.lines) ?? block.name] = tableOf(block.lines, models, enums);
  }
  const tableNames = new Map(blocks.map((block) => [block.name, mapOf(block.lines) ?? block.name]));
  for (const table of Object.values(tables))
    for (const relation of Object.values(table.relations))
      Object.assign(relation, { to: tableNames.get(relation.to) });
  return tables;
}

interface Block {
  readonly kind: string;
  readonly name: string;
  readonly lines: readonly string[];
}

function blocksOf(text: string): readonly Block[] {
  const blocks: { kind: string; name: string; lines: string[] }[] = [];
  let inside = false;
  for (const raw of text.split('\n')) {
    const line = raw.replace(/\/\/.*$/, '').trim();
    const opening = /^(model|enum|generator|datasource|view|type)\s+(\w+)\s*\{$/.exec(line);
    if (opening !== null) {
      blocks.push({ kind: opening[1] ?? '', name: opening[2] ?? '', lines: [] });
      inside = true;
    } else if (line === '}') inside = false;
    else if (inside && line !== '') blocks.at(-1)?.lines.push(line);
    else if (line !== '') throw new Error(`schema.prisma: not understood: ${raw}`);
  }
  return blocks;
}

function mapOf(lines: readonly string[]): string | undefined {
  return lines.map((line) => /^@@map\("([^"]+)"\)/.exec(line)?.[1]).find((name) => name !== undefined);
}

function tableOf(
  lines: readonly string[],
  models: ReadonlySet<string>,
  enums: ReadonlyMap<string, string>,
): SchemaTable {
  const columns: Record<string, SchemaColumn> = {};
  const names = new Map<string, string>();
  const primaryKey: string[] = [];
  const unique: string[] = [];
  const related: { readonly type: string; readonly attributes: string }[] = [];
  for (const line of lines.filter((text) => !text.startsWith('@@'))) {
    const field = /^(\w+)\s+(\w+)(\[\]|\?)?(\s+.*)?$/.exec(line);
    if (field === null) throw new Error(`schema.prisma: not understood: ${line}`);
    const [, name = '', type = '', suffix = '', attributes = ''] = field;
    if (models.has(type)) {
      related.push({ type, attributes });
      continue;
    }
    const column = /(?<!@)@map\("([^"]+)"\)/.exec(attributes)?.[1] ?? name;
    names.set(name, column);
    const nullable = suffix === '?';
    columns[column] = {
      type: pgType(line, type, attributes, enums) + (suffix === '[]' ? '[]' : ''),
      nullable,
      fallback: fallbackOf(attributes),
    };
    if (/(?<!@)@id\b/.test(attributes)) primaryKey.push(column);
    if (/(?<!@)@unique\b/.test(attributes)) unique.push(column);
  }
  for (const line of lines) {
    const list = /^@@(id|unique)\((?:fields:\s*)?\[([^\]]+)\]/.exec(line);
    if (list === null) continue;
    const fields = (list[2] ?? '')
      .split(',')
      .map((part) => names.get(part.trim().replace(/\(.*$/, '')) ?? part.trim());
    if (list[1] === 'id') primaryKey.push(...fields);
    else unique.push(fields.join(','));
  }
  const columnOf = (field: string): string => names.get(field) ?? field;
  return {
    columns,
    primaryKey,
    unique: unique.toSorted(),
    indexes: lines.flatMap((line) => indexOf(line, columnOf) ?? []).toSorted(),
    relations: Object.fromEntries(related.flatMap((one) => relationOf(one, columnOf))),
  };
}

/** `@default(…)`, whose argument may have parentheses of its own. */
function fallbackOf(attributes: string): string | null {
  const at = attributes.indexOf('@default(');
  if (at === -1) return null;
  let depth = 0;
  let quoted = false;
  for (let end = at + 8; end < attributes.length; end++) {
    const char = attributes[end];
    if (char === '"' && attributes[end - 1] !== '\\') quoted = !quoted;
    else if (!quoted && char === '(') depth += 1;
    else if (!quoted && char === ')' && --depth === 0) return plainDefault(attributes.slice(at + 9, end));
  }
  throw new Error(`schema.prisma: default not understood: ${attributes}`);
}

/** One spelling for what Prisma and PostgreSQL write in their own ways. */
export function plainDefault(text: string): string {
  return text
    .replace(/^dbgenerated\("(.*)"\)$/s, '$1')
    .replace(/^nextval\('\w+_seq'::regclass\)$/, 'autoincrement()')
    .replace(/^\[\]$/, '{}')
    .replace(/::[a-z ]+(?:\[\])?/g, '')
    .replace(/[\s"'()]/g, '');
}

function indexOf(line: string, columnOf: (field: string) => string): string | undefined {
  const found = /^@@index\(\[(.+?)\](?:, (?:type: \w+, )?map: "(\w+)")?.*\)$/.exec(line);
  if (found === null) return undefined;
  const columns = (found[1] ?? '').split(/,\s*(?![^(]*\))/).map((part) => {
    const [, field = '', options = ''] = /^(\w+)(?:\((.*)\))?$/.exec(part.trim()) ?? [];
    return columnOf(field) + (/sort: Desc/.test(options) ? ' desc' : '');
  });
  return `${found[2]}: ${columns.join(', ')}`;
}

const onDeletes: Readonly<Record<string, string>> = {
  Cascade: 'c',
  NoAction: 'a',
  Restrict: 'r',
  SetNull: 'n',
  SetDefault: 'd',
};

function relationOf(
  { type, attributes }: { readonly type: string; readonly attributes: string },
  columnOf: (field: string) => string,
): readonly (readonly [string, SchemaRelation])[] {
  const found = /@relation\("(\w+)", fields: \[([^\]]+)\].*onDelete: (\w+)/.exec(attributes);
  if (found === null) return [];
  const [, name = '', fields = '', onDelete = ''] = found;
  const columns = fields.split(',').map((field) => columnOf(field.trim()));
  return [[name, { columns, to: type, onDelete: onDeletes[onDelete] ?? onDelete }]];
}

function pgType(line: string, type: string, attributes: string, enums: ReadonlyMap<string, string>): string {
  const unsupported = /Unsupported\("([^"]+)"\)/.exec(line)?.[1];
  if (unsupported !== undefined) return unsupported;
  const native = /@db\.(\w+)(?:\(([\d, ]+)\))?/.exec(attributes);
  const found =
    native === null ? (scalarTypes[type] ?? enums.get(type)) : nativeType(native[1] ?? '', native[2]);
  if (found === undefined) throw new Error(`schema.prisma: type not understood: ${line}`);
  return found;
}

function nativeType(name: string, argument: string | undefined): string | undefined {
  const size = argument === undefined ? '' : `(${argument.replaceAll(' ', '')})`;
  if (name === 'Timestamptz') return `timestamp${size} with time zone`;
  if (name === 'Timestamp') return `timestamp${size} without time zone`;
  if (name === 'VarChar') return `character varying${size}`;
  if (name === 'Char') return `character${size}`;
  if (name === 'Decimal') return `numeric${size}`;
  return nativeTypes[name];
}
