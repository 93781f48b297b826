import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/slack/inbound/commands/all-commands.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const commandPage = read('docs/commands.md');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

describe('the tables of docs/settings.md', () => {
  const rows = new Map(
    [...read('docs/settings.md').matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm)].map(
      ([, name = '', fallback = '']) => [name, fallback],
    ),
  );
  const schema =
    /const environment = z\.object\(\{\n([\s\S]*?)\n\}\);/.exec(read('src/config/config.ts'))?.[1] ?? '';
  const variables = [...schema.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name = '']) => name);

  test('has a row for every variable that src/config/config.ts reads, and no other', () => {
    expect(variables.length).toBeGreaterThan(20);
    expect([...rows.keys()].toSorted()).toEqual(variables.toSorted());
  });

  test('tells the defaults that are written in the schema', () => {
    const written = [
      ...schema.matchAll(/^ {2}([A-Z_]+):[^\n]*?(?:whole\([^)]*\)\.default|flag|list)\('?([^,)']+)/gm),
      ...schema.matchAll(/^ {2}([A-Z_]+):[^\n]*?\.default\('([^']+)'\)/gm),
    ];
    expect(written.length).toBeGreaterThan(8);
    for (const [, name = '', fallback = ''] of written)
      expect([name, rows.get(name)]).toEqual([name, `\`${fallback}\``]);
  });
});

test('every section that the program sends its readers to is there', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((name) => name.endsWith('.ts')).map((name) => `src/${name}`);
  const sent = sources.flatMap((path) => [...read(path).matchAll(/\((docs\/[\w-]+\.md), "([^"]+)"\)/g)]);
  expect(sent.length).toBeGreaterThan(0);
  for (const [, page = '', title = ''] of sent) expect(read(page)).toMatch(new RegExp(`^#+ ${title}$`, 'm'));
});

describe('the commands that the documents name', () => {
  const text = documents.map(read).join('\n');
  const scripts = Object.keys(
    (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts,
  );
  const commands = new Set(
    commandFiles('src/main.ts').flatMap((path) =>
      [...read(path).matchAll(/new Command\('([\w-]+)'\)/g)].map(([, command = '']) => command),
    ),
  );
  commands.delete('sentry');

  test('of npm are scripts', () => {
    const named = [...text.matchAll(/\bnpm (?:run (?:--silent )?)?(start|test|(?<=run |--silent )[\w:-]+)/g)];
    const wanted = new Set(named.map(([, script = '']) => script));
    expect(wanted).toContain('start');
    expect(wanted).toContain('check');
    expect([...wanted].filter((script) => !scripts.includes(script))).toEqual([]);
  });

  test('of sentry exist, and docs/commands.md lists all of them', () => {
    const named = [...text.matchAll(/(?<![\w/-])sentry (?:-- )?([a-z]+)(?: ([a-z]+))?/g)].filter(
      ([whole]) => text.includes(`\`${whole}`) || text.includes(`npm run --silent ${whole}`),
    );
    const first = new Set(named.map(([, command = '']) => command));
    expect(first.size).toBeGreaterThan(5);
    expect([...first].filter((command) => !commands.has(command))).toEqual([]);
    for (const command of commands)
      expect(commandPage).toMatch(new RegExp(`\`sentry (?:\\w+ )?${command}[ \`]`));
  });

  test('of Slack are answered', () => {
    const answered = COMMANDS.map(({ name }) => name);
    const named = [...commandPage.matchAll(/`\/sentry (\w+)/g)].map(([, verb]) => verb);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((verb = '') => !answered.includes(verb))).toEqual([]);
    expect(answered.filter((name) => !named.includes(name))).toEqual([]);
  });
});

/** The file and those of src/cli that it imports, and so on. */
function commandFiles(path: string): readonly string[] {
  const imported = [...read(path).matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, specifier = '']) =>
    join(dirname(path), specifier),
  );
  const below = imported
    .filter((file) => /^(?:src\/cli|(?:evals|bench)\/commands)\//.test(file))
    .flatMap(commandFiles);
  return [...new Set([path, ...below])];
}

test('every file that the documents link to exists, and every heading', () => {
  const dead = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^https?:/.test(target))
      .filter((target) => {
        const [path = '', anchor] = target.split('#');
        const file = path === '' ? document : join(dirname(document), path);
        if (!existsSync(join(root, file))) return true;
        return anchor !== undefined && !anchors(read(file)).includes(anchor);
      })
      .map((target) => `${document}: ${target}`),
  );
  expect(dead).toEqual([]);
});

/** As GitHub makes them. */
function anchors(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
