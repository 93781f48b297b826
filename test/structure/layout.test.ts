import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every file below the folders, without what is installed or made. */
function filesIn(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
          .map((name) => join(folder, name))
          .filter((path) => statSync(join(root, path)).isFile())
      : [],
  );
}

const code = filesIn('src', 'playground', 'bench', 'evals', 'test', 'scripts').filter((path) =>
  /\.(?:ts|mjs|js)$/.test(path),
);

describe('the top level', () => {
  test.each([
    ['package.json', 'file'],
    ['tsconfig.json', 'file'],
    ['src', 'folder'],
    ['runbooks', 'folder'],
    ['prisma', 'folder'],
    ['test', 'folder'],
    ['manifest.yml', 'file'],
    ['Dockerfile', 'file'],
  ] as const)('has %s, a %s', (path, kind) => {
    const found = statSync(join(root, path));
    expect(
      kind === 'file' ? found.isFile() && found.size > 0 : readdirSync(join(root, path)).length > 0,
    ).toBe(true);
  });
});

describe('the dependencies', () => {
  const declared = JSON.parse(read('package.json')) as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >;

  test.each([
    ['@slack/bolt', 'dependencies', 'src'],
    ['@anthropic-ai/sdk', 'dependencies', 'src'],
    ['chromadb', 'dependencies', 'src'],
    ['postgres', 'dependencies', 'src'],
    ['zod', 'dependencies', 'src'],
    ['vitest', 'devDependencies', 'test'],
  ] as const)('%s is one of the %s, and in use in %s', (name, kind, folder) => {
    expect(declared[kind]?.[name]).toBeDefined();
    const importing = new RegExp(`(?:from|import\\()\\s*'${name.replaceAll('/', '\\/')}(?:/[^']*)?'`);
    const users = code.filter((path) => path.startsWith(`${folder}/`) && importing.test(read(path)));
    expect(users).not.toEqual([]);
  });
});

describe('the environment', () => {
  test('is read by src/config/config.ts alone', () => {
    const readers = code.filter(
      (path) =>
        /^(?:src|playground|bench|evals)\//.test(path) &&
        /\bprocess\s*(?:\.\s*env\b|\[\s*['"]env['"])/.test(read(path)),
    );
    expect(readers.filter((path) => path !== 'src/config/config.ts')).toEqual([]);
    expect(readers).toEqual(['src/config/config.ts']);
  });
});
