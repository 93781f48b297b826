import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { OpsError } from '../../../src/core/errors.ts';
import { productEnv, program, repository } from '../../support/product.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

/** What no operator should have to read: stacks, and the words of a validator. */
const FOREIGN =
  /^\s+at .+:\d+|\bE[A-Z]{4,}\b|command-argument|is invalid|Allowed choices|Invalid (input|option|string|discriminator|key|value)|received |Too (big|small)|Unrecognized key|expected (string|number|array|object|tuple|record|boolean|int)\b|NaN|undefined/m;

/** Settings that take any text: what is wrong with them shows where they are used. */
const ANY_TEXT = new Set([
  'SENTRY_ADMIN_CHANNEL',
  'SENTRY_ALERT_CHANNELS',
  'SENTRY_EVERY_MESSAGE_CHANNELS',
  'SENTRY_ONCALL_GROUP',
  'ANTHROPIC_API_KEY',
  'SENTRY_MODEL',
  'SENTRY_FALLBACK_MODEL',
  'AWS_REGION',
  'AWS_BEARER_TOKEN_BEDROCK',
  'SENTRY_HTTP_HOST',
  'SENTRY_DATA_DIR',
  'DOCKER_HOST',
  'CONTAINER_HOST',
]);

const settings = [
  ...readFileSync(join(repository, 'docs', 'settings.md'), 'utf8').matchAll(/^\| `([A-Z_]+)` \|/gm),
].map(([, name = '']) => name);

function faultOf(env: Readonly<Record<string, string>>): OpsError | null {
  try {
    loadConfig(env);
    return null;
  } catch (error) {
    if (error instanceof OpsError) return error;
    throw error;
  }
}

describe('a wrong setting', () => {
  it.each(settings.filter((name) => !ANY_TEXT.has(name)))(
    '%s is refused in words that name it [B14]',
    (name) => {
      // Short, no number, no URL, no token, no list of ids.
      const faults = ['!', '-1', '{"a":', 'nonsense nonsense']
        .map((value) => faultOf({ [name]: value }))
        .filter((fault) => fault !== null);
      // A value that is good by itself may lack another setting, which is then what is named.
      expect(faults.some(({ message }) => message.includes(name))).toBe(true);
      for (const { code, message, hint } of faults) {
        expect(code).toBe('CONFIG');
        expect(`${message}\n${hint}`).not.toMatch(FOREIGN);
      }
    },
  );

  it.each([
    ['HTTP_PORT', { SENTRY_HTTP_PORT: '65536' }, 'SENTRY_HTTP_PORT: expected a whole number from 0 to 65535'],
    [
      'a number in another notation',
      { SENTRY_HTTP_PORT: '0x10' },
      'SENTRY_HTTP_PORT: expected a whole number',
    ],
    ['half a minute', { SENTRY_APPROVAL_MINUTES: '0.5' }, 'expected a whole number from 1 to 1440'],
    ['LOG_LEVEL', { LOG_LEVEL: 'loud' }, 'LOG_LEVEL: expected one of trace, debug, info'],
    [
      'a password that breaks the URL',
      { DATABASE_URL: 'postgres://u:p[a/ss@h/db' },
      'DATABASE_URL: is no URL',
    ],
    [
      'an unknown sslmode',
      { DATABASE_URL: 'postgres://u@h/db?sslmode=on' },
      'sslmode: expected one of disable',
    ],
    ['verify-ca of nobody', { DATABASE_URL: 'postgres://u@h/db?sslmode=verify-ca' }, 'needs sslrootcert'],
  ])('%s: the sentence says what is expected, and never what was given [B14]', (_, env, said) => {
    const fault = faultOf(env);
    expect(fault?.message).toContain(said);
    expect(fault?.message).not.toContain('p[a/ss');
  });

  it.each(['SENTRY_RUNBOOKS_DIR', 'SENTRY_SOURCES_DIR', 'SENTRY_POLICY'])(
    '%s that names nothing is refused before anything is started [B13] [B15]',
    (name) => {
      const fault = faultOf({ [name]: '/nonexistent' });
      expect(fault?.code).toBe('CONFIG');
      expect(fault?.message).toMatch(
        new RegExp(`${name}: /nonexistent: there is no such file or folder; expected a `),
      );
    },
  );

  it('that is misspelt is said with the one that was meant; what is not ours is left alone [B15]', () => {
    const { notes } = loadConfig({ SENTRY_APROVERS: 'U1', SENTRY_DSN: 'https://x', SENTRY_HTTP_PROT: '1' });
    expect(notes).toEqual([
      'SENTRY_APROVERS is no setting: did you mean SENTRY_APPROVERS?',
      'SENTRY_HTTP_PROT is no setting: did you mean SENTRY_HTTP_PORT?',
    ]);
  });
});

describe('sentry.yaml', () => {
  const written = (text: string): string => {
    const path = join(scratchDir(), 'sentry.yaml');
    writeFileSync(path, text);
    return path;
  };

  it('that is empty is said [B12]', () => {
    for (const text of ['', '# nothing\n', '---\n'])
      expect(loadConfig({ SENTRY_CONFIG: written(text) }).notes).toEqual([
        expect.stringContaining('sentry.yaml is empty: it names no target.'),
      ]);
  });

  it('never shows a URL that stands where the name of a variable belongs [B11]', () => {
    const fault = faultOf({
      SENTRY_CONFIG: written(
        'targets:\n  - {name: orders-db, kind: postgres, read_url_env: "postgres://u:hunter2secret@h/db"}\n',
      ),
    });
    expect(fault?.message).toContain('read_url_env');
    expect(fault?.message).toContain('name of an environment variable');
    expect(fault?.message).not.toContain('hunter2secret');
  });

  it.each([
    ['no mapping', '- a\n'],
    ['a text', 'targets\n'],
    ['an unknown key', 'foo: 1\n'],
    ['targets that are no list', 'targets: {a: 1}\n'],
    ['no kind', 'targets: [{name: a}]\n'],
    ['a kind that is none', 'targets: [{name: a, kind: oracle}]\n'],
    ['a misspelt field', 'targets: [{name: a, kind: postgres, raed_url_env: A}]\n'],
    ['a number for a name', 'targets: [{name: 1, kind: postgres, read_url_env: A}]\n'],
    ['a restart as text', 'targets: [{name: a, kind: host, services: [{name: s, restart: "x y"}]}]\n'],
    ['services as text', 'targets: [{name: a, kind: host, services: all}]\n'],
    ['mcp_callers as text', 'mcp_callers: me\n'],
    ['an MCP server without anything', 'mcp_servers: [{}]\n'],
    ['no YAML', 'targets: [\n'],
  ])('with %s is refused in plain words [B14]', (_, text) => {
    const fault = faultOf({ SENTRY_CONFIG: written(text) });
    expect(fault?.code).toBe('CONFIG');
    expect(fault?.message).toContain('sentry.yaml');
    expect(`${fault?.message}`).not.toMatch(FOREIGN);
    expect(`${fault?.message}`).not.toContain(': : ');
  });

  it('that is a folder is refused in plain words [B13]', () => {
    const path = join(scratchDir(), 'sentry.yaml');
    mkdirSync(path);
    expect(faultOf({ SENTRY_CONFIG: path })?.message).toContain('cannot be read');
  });
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('the command line', { timeout: 300_000 }, () => {
  const dataDir = scratchDir();
  async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    // Nothing listens there: a command that gets as far as the record fails at once.
    const nowhere = {
      DATABASE_URL: 'postgres://u:hunter2secret@127.0.0.1:1/none',
      CHROMA_HOST: 'http://127.0.0.1:1',
    };
    const ending = promisify(execFile)(process.execPath, [program, ...args], {
      env: productEnv({ dataDir, env: { ...nowhere, ...env } }),
      cwd: dataDir,
    });
    // Whatever reads standard input reads its end.
    ending.child.stdin?.end();
    return ending.then(
      (done) => ({ ...done, code: 0 }),
      (error: Ended) => error,
    );
  }

  /** Every command, however deep. */
  const leaves = (command: Command, path: readonly string[] = []): readonly (readonly string[])[] =>
    command.commands.length === 0
      ? [path]
      : command.commands.flatMap((each) => leaves(each, [...path, each.name()]));

  it('explains each of its commands, however deep', async () => {
    const all = await createProgram('');
    const every = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(every)];
    for (const path of leaves(all)) {
      const said: string[] = [];
      const program = await createProgram('');
      for (const command of every(program))
        command.configureOutput({ writeOut: (text) => said.push(text), writeErr: (text) => said.push(text) });
      await expect(program.parseAsync(['node', 'sentry', ...path, '--help'])).rejects.toMatchObject({
        code: 'commander.helpDisplayed',
      });
      expect(said.join('')).toMatch(new RegExp(`^Usage: ${['sentry', ...path].join(' ')}\\b`));
    }
  });

  it('tells of an unknown option and of a word too many by code 2, for every command [B16]', async () => {
    const all = leaves(await createProgram(''));
    expect(all.length).toBeGreaterThan(30);
    const quiet = { writeOut: () => undefined, writeErr: () => undefined, outputError: () => undefined };
    for (const path of all)
      for (const wrong of [['--nonsense'], ['one', 'two', 'three', 'four', 'five']]) {
        const program = await createProgram('');
        const silence = (command: Command): void => {
          command.configureOutput(quiet);
          command.commands.forEach(silence);
        };
        silence(program);
        // Whatever is not thrown would end this process, or run the command.
        const failing = program.parseAsync(['node', 'sentry', ...path, ...wrong]);
        await expect(failing, [...path, ...wrong].join(' ')).rejects.toBeInstanceOf(CommanderError);
      }
  });

  it.each([
    ['runbooks seed bogus', 2, 'domain "bogus": expected one of postgres, docker'],
    ['runbooks seed postgers', 2, '(did you mean postgres?)'],
    ['identity rotate bogus', 2, 'bogus'],
    ['stop bogus-scope', 2, 'bogus-scope'],
    ['promotions approve 99', 2, '--as'],
    ['incidents --limit many', 2, '--limit <n>: expected a whole number from 1 to 1000, not "many"'],
    ['targets add it --kind oracle', 2, '--kind <kind>: expected one of postgres, docker'],
    ['runbooks validate /nonexistent', 1, 'no such file or folder'],
    ['alert /nonexistent.json', 1, '/nonexistent.json: there is no such file or folder'],
    ['evals run --scenarios /nonexistent', 1, '/nonexistent cannot be read: there is no such file'],
    ['incidents', 1, 'DATABASE_URL'],
  ])(
    '"%s" ends with code %i and says why, without a stack or a password [B13] [B15] [B16]',
    async (words, code, why) => {
      const ended = await run(words.split(' '));
      expect(ended).toMatchObject({ code, stdout: '' });
      expect(ended.stderr).toContain(why);
      expect(ended.stderr).not.toMatch(FOREIGN);
      expect(ended.stderr).not.toContain('hunter2secret');
    },
  );

  it('tells its version [B17]', async () => {
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  it.each(['/proc/x', '/proc/self/fdinfo/x/y', '/dev/null/x'])(
    'ends where %s is to be the data folder, and says so [B13]',
    async (folder) => {
      for (const args of [['start'], ['incidents']]) {
        const { code, stderr } = await run(args, { SENTRY_DATA_DIR: folder, DATABASE_URL: '' });
        expect(code).toBe(4);
        expect(stderr).toContain(`The folder ${folder}`);
        expect(stderr).not.toMatch(FOREIGN);
      }
      const doctor = await run(['doctor'], { SENTRY_DATA_DIR: folder, DATABASE_URL: '' });
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toContain(`The folder ${folder}`);
    },
  );

  it('shows what a line of JSON has to look like [B17]', async () => {
    const child = promisify(execFile)(process.execPath, [program, 'guard', 'command'], {
      env: productEnv({ dataDir }),
    });
    child.child.stdin?.end('{"text": 1}\nnonsense\n');
    const { stdout } = await child.catch((error: Ended) => error);
    expect(stdout.trim().split('\n')).toHaveLength(2);
    for (const line of stdout.trim().split('\n')) {
      expect((JSON.parse(line) as { readonly error: string }).error).toContain(
        'a line looks like {"id": 1, "text": "…"}',
      );
      expect(line).not.toMatch(FOREIGN);
    }
  });
});
