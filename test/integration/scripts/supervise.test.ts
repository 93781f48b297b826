import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isRunning, processIdentity } from '../../../src/infra/process/process-identity.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { checkout } from '../../support/spawn-holder.ts';
import { waitFor } from '../../support/wait-for.ts';

const module = join(checkout, 'scripts', 'lib', 'supervise.mjs');

/** What the supervised program does in one of its lives; the last one repeats. */
type Life =
  | 'ready, then SIGKILL'
  | 'SIGKILL'
  | `exit ${number}`
  | `ready, then exit ${number}`
  | 'wait'
  | 'ready, then wait';

interface Supervised {
  readonly pid: number;
  readonly code: Promise<number | null>;
  lives(): number;
  /** All that was said by both. */
  said(): string;
  signal(name: NodeJS.Signals): void;
}

/** A program in small under the real parent, with hardly a pause between its lives. */
function supervise(lives: readonly Life[], pausesMs: readonly number[] = [5]): Supervised {
  const folder = scratchDir();
  const lived = join(folder, 'lives');
  writeFileSync(
    join(folder, 'program.mjs'),
    `import { appendFileSync, readFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(lived)}, process.pid + '\\n');
    const lives = ${JSON.stringify(lives)};
    const n = readFileSync(${JSON.stringify(lived)}, 'utf8').trim().split('\\n').length;
    const life = lives[Math.min(n, lives.length) - 1];
    process.on('message', (message) => console.log(JSON.stringify(message)));
    process.on('SIGTERM', () => process.exit(3));
    process.on('disconnect', () => process.exit(0));
    console.log('life ' + n + ': ' + life);
    if (life.startsWith('ready')) process.send('ready');
    await new Promise((done) => setTimeout(done, 50));
    if (life.endsWith('SIGKILL')) process.kill(process.pid, 'SIGKILL');
    const code = /exit (\\d+)$/.exec(life);
    if (code) process.exit(Number(code[1]));
    setTimeout(() => undefined, 600_000);`,
  );
  return supervised(join(folder, 'program.mjs'), pausesMs, lived);
}

function supervised(program: string, pausesMs: readonly number[], lived = ''): Supervised {
  const runner = join(dirname(program), 'runner.mjs');
  writeFileSync(
    runner,
    `import { supervise } from ${JSON.stringify(module)};
    process.exit(await supervise([${JSON.stringify(program)}], { pausesMs: ${JSON.stringify(pausesMs)} }));`,
  );
  const child = spawn(process.execPath, [runner]);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      said += text.toString();
    });
  return {
    pid: child.pid ?? -1,
    code: new Promise((resolve) => child.once('close', resolve)),
    lives: () => (existsSync(lived) ? readFileSync(lived, 'utf8').trim().split('\n').length : 0),
    said: () => said,
    signal: (name) => void child.kill(name),
  };
}

test('one that was killed is started again, and told why [C1]', async () => {
  const parent = supervise(['ready, then SIGKILL', 'ready, then exit 0']);
  expect(await parent.code).toBe(0);
  expect(parent.lives()).toBe(2);
  expect(parent.said()).toContain('Sentry ended unexpectedly (signal SIGKILL). Starting it again in');
  expect(parent.said()).toContain('{"startedAgain":"signal SIGKILL","listening":null}');
});

test.each<[string, readonly Life[], number]>([
  ['killed while ready', ['ready, then SIGKILL'], 137],
  ['killed while starting', ['SIGKILL'], 137],
  ['ended by an error of its own', ['ready, then exit 70'], 70],
  ['ended with another code while it ran', ['ready, then exit 1'], 1],
])('one that is %s again and again is given up on, in a clear sentence', async (_, lives, code) => {
  const parent = supervise(lives);
  expect(await parent.code).toBe(code);
  expect(parent.lives()).toBe(5);
  expect(parent.said()).toMatch(/Sentry ended 5 times within a minute .* is not started again/);
});

test.each([
  ['a first start that fails', ['exit 1'], 1, 1],
  ['a wrong configuration', ['exit 4'], 4, 1],
  ['a wrong command line', ['exit 2'], 2, 1],
  ['a configuration that became wrong', ['ready, then SIGKILL', 'exit 4'], 4, 2],
] as const)('%s is not tried again', async (_, lives, code, lived) => {
  const parent = supervise(lives);
  expect(await parent.code).toBe(code);
  expect(parent.lives()).toBe(lived);
  expect(parent.said()).not.toContain('within a minute');
});

test('where it ran once, starts that fail (the database is away too) are tried for as long as it takes', async () => {
  const failed = Array.from({ length: 9 }, () => 'exit 1' as const);
  const parent = supervise(['ready, then SIGKILL', ...failed, 'ready, then exit 0']);
  expect(await parent.code).toBe(0);
  expect(parent.lives()).toBe(11);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s is passed on, and its end is the end of both', async (name) => {
  const parent = supervise(['wait']);
  await waitFor('the program', async () => parent.said().includes('life 1'));
  parent.signal(name);
  expect(await parent.code).toBe(name === 'SIGTERM' ? 3 : 130);
  expect(parent.lives()).toBe(1);
});

test('a signal during the pause is passed on once it is ready again: it has servers to stop', async () => {
  const parent = supervise(['ready, then SIGKILL', 'ready, then wait'], [3_600_000]);
  await waitFor('the pause', async () => parent.said().includes('Starting it again in 3600 s'));
  parent.signal('SIGTERM');
  expect(await parent.code).toBe(3);
  expect(parent.lives()).toBe(2);
});

test('a start for stopping that fails is not tried again', async () => {
  const parent = supervise(['ready, then SIGKILL', 'exit 1'], [3_600_000]);
  await waitFor('the pause', async () => parent.said().includes('Starting it again in 3600 s'));
  parent.signal('SIGTERM');
  expect(await parent.code).toBe(1);
  expect(parent.lives()).toBe(2);
});

test('a parent that is killed takes the program along', async () => {
  const parent = supervise(['wait']);
  await waitFor('the program', async () => parent.said().includes('life 1'));
  const left = await waitFor('the parent', async () => processIdentity(parent.pid));
  parent.signal('SIGKILL');
  // Both hold its output open.
  await parent.code;
  expect(isRunning(left)).toBe(false);
});

/** A server in small under the real parent, as Sentry is one: it answers 202, and starts slowly. */
function serve(first = '') {
  const folder = scratchDir();
  const program = join(folder, 'server.mjs');
  writeFileSync(
    program,
    `import { createServer } from 'node:http';
    const [hello, handle] = await new Promise((done) => process.once('message', (...heard) => done(heard)));
    process.on('disconnect', () => process.exit(0));
    process.on('SIGTERM', () => process.exit(0));
    await new Promise((done) => setTimeout(done, 100));
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(202).end(String(process.pid)));
    });
    await new Promise((done) => (handle ? server.listen(handle, done) : server.listen(0, '127.0.0.1', done)));
    const { port } = server.address();
    process.send({ listening: { host: '127.0.0.1', port } }, server._handle);
    ${first}
    process.send('ready');
    console.log('port ' + port + ' of ' + process.pid + '.');`,
  );
  return supervised(program, [200]);
}

/** Sends until told to end, each over a connection of its own; what was answered, or why nothing was. */
function send(port: number) {
  const seen = new Map<string, number>();
  let going = true;
  const sending = (async () => {
    while (going) {
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        body: 'x'.repeat(10_000),
        headers: { connection: 'close' },
      }).then(
        async (response) => {
          await response.text();
          return `${response.status} ${response.headers.get('retry-after') ?? ''}`.trim();
        },
        (error: Error) => String((error.cause as NodeJS.ErrnoException | undefined)?.code ?? error),
      );
      seen.set(answer, (seen.get(answer) ?? 0) + 1);
      await sleep(2);
    }
  })();
  return {
    seen,
    async end() {
      going = false;
      await sending;
    },
  };
}

const lastLife = (said: string) =>
  [...said.matchAll(/port (\d+) of (\d+)\./g)].at(-1)?.slice(1).map(Number) ?? [];

test('while it is killed again and again senders hear 202 or 503 and when to come again, and are never refused [C1]', async () => {
  const parent = serve();
  const [port = 0] = await waitFor('the first life', async () => {
    const life = lastLife(parent.said());
    return life.length > 0 && life;
  });
  const senders = [send(port), send(port)];
  const answered = (what: string) => senders.reduce((sum, { seen }) => sum + (seen.get(what) ?? 0), 0);
  for (let kills = 0; kills < 4; kills += 1) {
    const [, pid = 0] = lastLife(parent.said());
    const [taken, away] = [answered('202'), answered('503 5')];
    await waitFor('it to answer', async () => answered('202') > taken);
    process.kill(pid, 'SIGKILL');
    await waitFor('the parent to answer', async () => answered('503 5') > away);
    await waitFor('the next life', async () => lastLife(parent.said())[1] !== pid);
    expect(lastLife(parent.said())[0]).toBe(port);
  }
  const taken = answered('202');
  await waitFor('it to answer again', async () => answered('202') > taken);
  await Promise.all(senders.map((sender) => sender.end()));
  parent.signal('SIGTERM');
  expect(await parent.code).toBe(0);
  // What it had begun to read when it was killed is cut off: nobody can answer that any more.
  const others = new Set(senders.flatMap(({ seen }) => [...seen.keys()]));
  for (const each of ['202', '503 5', 'ECONNRESET', 'UND_ERR_SOCKET']) others.delete(each);
  expect([...others]).toEqual([]);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed');
});

test('one that dies with the word about its port on its lips is stood in for, too [C1]', async () => {
  const parent = serve(`if (!hello.startedAgain) process.kill(process.pid, 'SIGKILL');`);
  await waitFor('the second life', async () => lastLife(parent.said()).length > 0);
  const [port] = lastLife(parent.said());
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(202);
  parent.signal('SIGTERM');
  expect(await parent.code).toBe(0);
});

test('ends long ago are forgotten: only those within a minute count', async () => {
  type End = { readonly code: number | null; readonly signal: string | null; readonly wasReady: boolean };
  const { afterEnd } = (await import(module)) as {
    readonly afterEnd: (end: End, past: object, now: number) => { readonly kind: string };
  };
  const past = { everReady: false, crashes: [], failedStarts: 0 };
  const crash = { code: null, signal: 'SIGSEGV', wasReady: true };
  const kinds = [0, 10, 20, 30, 65, 75, 76].map((s) => afterEnd(crash, past, s * 1_000).kind);
  expect(kinds).toEqual([...Array.from({ length: 6 }, () => 'again'), 'give up']);
});
