import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openApi } from '../../src/http/api/open-api.ts';
import { described } from '../../src/http/api/operations.ts';
import { alertSources, webhookPath } from '../../src/sources/registry.ts';
import type { SourceFixtures } from '../contract/sources/fixtures.ts';

interface Field {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Field[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly description?: string;
}

interface Form {
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}

/** What a request takes: in its path, query, headers and body, as the OpenAPI document has it. */
function parametersOf({ method, path }: (typeof described)[number]): readonly (readonly string[])[] {
  const operation = openApi(described).paths[path]?.[method.toLowerCase()] ?? {};
  const { parameters = [], requestBody } = operation as {
    readonly parameters?: readonly {
      readonly name: string;
      readonly in: string;
      readonly required: boolean;
      readonly description?: string;
      readonly schema: Field;
    }[];
    readonly requestBody?: {
      readonly content: Readonly<
        Record<
          string,
          { readonly schema: Form & { readonly anyOf?: readonly Form[]; readonly oneOf?: readonly Form[] } }
        >
      >;
    };
  };
  const body = requestBody?.content['application/json']?.schema;
  // Of a choice of forms, the fields of all.
  const forms = body?.anyOf ?? body?.oneOf ?? (body ? [body] : []);
  const properties: Record<string, Field> = {};
  for (const [name, field] of forms.flatMap((form) => Object.entries(form.properties ?? {}))) {
    const known = properties[name];
    properties[name] =
      field.const === undefined
        ? { ...known, ...field }
        : { ...known, ...field, enum: [...(known?.enum ?? []), field.const] };
  }
  const fields = [
    ...parameters.map(({ in: place, schema, ...rest }) => ({ place, field: schema, ...rest })),
    ...Object.entries(properties).map(([name, { description, ...field }]) => ({
      place: 'body',
      name,
      required: forms.every((form) => form.required?.includes(name) ?? false),
      ...(description === undefined ? {} : { description }),
      field,
    })),
  ];
  return fields.map(({ name, place, required, field, description = '' }) => [
    `\`${method} ${path}\``,
    `\`${name}\``,
    place,
    formOf(field, required),
    description.replaceAll('|', '\\|').replaceAll('\n', ' '),
  ]);
}

/** `one of a, b; required`. */
function formOf(field: Field, required: boolean): string {
  const form = field.enum
    ? `one of ${field.enum.map((value) => `\`${String(value)}\``).join(', ')}`
    : [field.type ?? field.anyOf?.map(({ type }) => type ?? 'any') ?? 'any'].flat(2).join(' or ');
  const most =
    field.maximum !== undefined && field.maximum < Number.MAX_SAFE_INTEGER
      ? [`at most ${field.maximum}`]
      : [];
  const preset = field.default === undefined ? [] : [`${JSON.stringify(field.default)} if left out`];
  const long = field.maxLength === undefined ? [] : [`at most ${field.maxLength} characters`];
  return [form, ...(required ? ['required'] : []), ...most, ...long, ...preset].join('; ');
}

/** Tables of the documents that are made from the code, each below a comment with its name. */
const tables = [
  {
    file: 'docs/alert-sources.md',
    name: 'alert sources',
    head: ['source', 'arrives at', '`--source`', 'it must be'],
    rows: alertSources
      .filter(({ changes }) => changes !== 'only')
      .map((source) => [
        source.title,
        {
          webhook: `\`POST ${webhookPath(source)}\``,
          slack: 'an alert channel in Slack',
          watch: 'a target with `watch`',
        }[source.arrives],
        `\`${source.name}\``,
        source.docs ? `[${source.payload}](${source.docs})` : source.payload,
      ]),
  },
  {
    file: 'docs/changes.md',
    name: 'change sources',
    head: ['source', 'tells at'],
    rows: alertSources
      .filter(({ changes }) => changes !== undefined)
      .map((source) => [
        source.docs ? `[${source.title}](${source.docs})` : source.title,
        source.arrives === 'slack'
          ? 'a channel in Slack that Sentry is in'
          : `\`POST ${webhookPath(source)}\``,
      ]),
  },
  {
    file: 'docs/api.md',
    name: 'requests of the API',
    head: ['request', 'scope', 'what it does'],
    rows: described.map(({ method, path, scope, summary }) => [
      `\`${method} ${path}\``,
      scope === null ? 'none' : `\`${scope}\``,
      summary,
    ]),
  },
  {
    file: 'docs/api.md',
    name: 'parameters of the API',
    head: ['request', 'parameter', 'in', 'form', 'what it is'],
    rows: described.flatMap(parametersOf),
  },
];

test.each(tables)(
  '$file has the table of $name that this command writes',
  async ({ file, name, ...table }) => {
    const path = join(import.meta.dirname, '../..', file);
    const lines = [table.head, table.head.map(() => '---'), ...table.rows].map(
      (cells) => `| ${cells.join(' | ')} |\n`,
    );
    const mark = `<!-- ${name}: npm test -- test/structure/docs-tables.test.ts -u -->\n\n`;
    const [before = '', after = ''] = readFileSync(path, 'utf8').split(mark);
    expect(after).not.toBe('');
    await expect(
      `${before}${mark}${lines.join('')}\n${after.replace(/^(?:\|.*\n)*\n*/, '')}`,
    ).toMatchFileSnapshot(path);
  },
);

test.each(['Checkly', 'Datadog'])(
  'docs/alert-sources.md has the template that the fixtures of %s are made by',
  async (title) => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/alert-sources.md'), 'utf8');
    const [, template = ''] = text.split(`**${title}** (`)[1]?.split(/```(?:json)?\n/) ?? [];
    const { fixtures } = (await import(`../contract/sources/${title.toLowerCase()}.ts`)) as {
      fixtures: SourceFixtures;
    };
    expect(Object.keys(JSON.parse(template) as object)).toEqual(Object.keys(fixtures.firing as object));
  },
);
