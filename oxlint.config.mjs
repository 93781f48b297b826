import { readFileSync } from 'node:fs';

/**
 * Who may import whom in src: `rooms` names for each room the others it may import ("*" all of them, "x/y" only that folder
 * of x, "*" with "/ports.ts" any room's ports), `registries` the rooms whose folders only the room itself knows, `packages` the only folders that may import a vendor's SDK. docs/architecture.md
 * prints the same table.
 */
const { rooms, registries, packages } = JSON.parse(
  readFileSync(new URL('scripts/lib/import-direction.json', import.meta.url), 'utf8'),
);

const up = String.raw`^(?:\.\/)*(?:\.\.\/)+(?:src\/)?`;
const end = String.raw`(?:\/|$)`;

const detours = {
  regex: String.raw`[^.\/]\/\.\.\/`,
  message: 'Say the path straight, so that the import direction can be read from it.',
};
const outside = {
  regex: `${up}(?:playground|bench|evals|test|scripts|dist|main\\.ts$)`,
  message: 'src imports neither the program file nor what is around it (design: layout).',
};

/** A folder of such a room has no users but its registry: nothing else names it. */
const insides = {
  regex: String.raw`${up}(?:${registries.join('|')})\/[^\/]+\/`,
  message: 'Take it from the registry of that room (design: layout).',
};

/** Every other room, but for what the table allows. */
function otherRooms(room) {
  const allowed = rooms[room];
  if (allowed.includes('*')) return [];
  const message = `${room} may import: ${allowed.join(', ') || 'no other room'} (design: import direction).`;
  const forbidden = Object.keys(rooms).filter((other) => other !== room && !allowed.includes(other));
  const parts = allowed.filter((each) => each.includes('/'));
  // A regex cannot make exceptions, a group can; a group is not told where a path leads out of a folder.
  if (parts.length === 0) return [{ regex: `${up}(?:${forbidden.join('|')})${end}`, message }];
  const open = parts.map((part) => (part === '*/ports.ts' ? '!**/ports.ts' : `!**/${part}/**`));
  return [{ group: [...forbidden.map((other) => `**/${other}/**`), ...open], message }];
}

/** The SDKs whose home is not at or above this folder. */
function foreignPackages(folder) {
  const foreign = Object.entries(packages)
    .filter(([, homes]) => !homes.includes(folder))
    .map(([name]) => (name.endsWith('/') ? name.replace('/', '\\/') : `${name}(?:\\/|$)`));
  return {
    regex: `^(?:${foreign.join('|')})`,
    message: "A vendor's SDK stays in its own folder (design: layout).",
  };
}

const restrict = (files, patterns) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns }] },
});
const folderRules = (folder, room = folder) =>
  restrict([`src/${folder}/**`], [...otherRooms(room), insides, outside, detours, foreignPackages(folder)]);

const homesInside = [...new Set(Object.values(packages).flat())].filter((folder) => folder.includes('/'));

export default {
  plugins: ['typescript', 'import', 'node', 'unicorn', 'oxc'],
  categories: { correctness: 'error' },
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'import/no-cycle': ['error', { ignoreTypes: true }],
    'typescript/consistent-type-imports': 'error',
    'typescript/no-require-imports': 'error',
    'import/no-default-export': 'error',
    'oxc/no-barrel-file': 'error',
    'node/no-process-env': 'error',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'no-empty': ['error', { allowEmptyCatch: false }],
    'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    'typescript/unbound-method': 'off',
    'typescript/restrict-template-expressions': 'off',
    'typescript/no-base-to-string': 'off',
  },
  ignorePatterns: ['dist', 'node_modules', 'playground/slack/page/**'],
  overrides: [
    restrict(
      ['src/*.ts'],
      [
        foreignPackages(''),
        detours,
        {
          group: ['../**', '!../evals/commands/**', '!../bench/commands/**'],
          message:
            'Of what is around src, the program file loads the commands of evals and bench only (design: layout).',
        },
      ],
    ),
    ...Object.keys(rooms).map((room) => folderRules(room)),
    restrict(['bench/**', 'evals/**'], [insides]),
    restrict(
      ['src/core/**'],
      [
        { regex: String.raw`(?:^|\/)\.\.\/`, message: 'core imports nothing but zod.' },
        { group: ['*', '!zod', '!./**'], message: 'core imports nothing but zod.' },
      ],
    ),
    ...homesInside.map((folder) => folderRules(folder, folder.split('/')[0])),
    {
      files: ['src/config/config.ts', '*.config.{ts,mjs}', 'scripts/**'],
      rules: { 'node/no-process-env': 'off', 'import/no-default-export': 'off' },
    },
    { files: ['test/**'], rules: { 'node/no-process-env': 'off', 'max-lines': 'off' } },
  ],
};
