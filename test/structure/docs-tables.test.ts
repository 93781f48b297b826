import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { described } from '../../src/http/api/operations.ts';
import { alertSources, webhookPath } from '../../src/sources/registry.ts';
import type { SourceFixtures } from '../contract/sources/fixtures.ts';

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
        `\`POST ${webhookPath(source)}\``,
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
