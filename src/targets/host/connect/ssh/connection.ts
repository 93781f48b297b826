import type { Duplex } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import { anySignal } from '../../../../core/any-signal.ts';
import { messageOf, OpsError } from '../../../../core/errors.ts';
import { plainWords } from '../../../../core/plain-words.ts';
import type { SshTarget } from '../../ssh-config.ts';
import { logIn } from './login.ts';
import { quoteForShell } from './quote.ts';

/** sshd takes ten sessions a connection by itself, and some are told to take fewer. */
const MOST_AT_ONCE = 4;
const LOGIN_MS = 15_000;
/** After this long without an end of the channel nobody waits for it. */
const CLOSE_MS = 2_000;
/** Bytes that may still come then: twice what ssh2 lets a server send unasked. One that sends more keeps to no rule. */
const MOST_AFTER_CLOSE = 4 * 1024 * 1024;

export interface RemoteRun {
  /** Null: it was killed, or the connection broke. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Why it was ended from here. */
  readonly killed: 'timeout' | 'output' | 'aborted' | null;
  /** The connection broke after the command was sent: nobody knows whether it ran, or how it ended. */
  readonly isLost: boolean;
}

export interface RemoteOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Bytes of stdout and stderr together. */
  readonly maxBytes: number;
  readonly input?: string;
}

/** A login that is kept, and made anew when it breaks. */
export interface SshConnection {
  /** Runs a program with exactly these words. Throws OpsError only when nothing ran. */
  run(argv: readonly string[], options: RemoteOptions): Promise<RemoteRun>;
  /** A stream to a port, as the host itself would connect; null when nobody takes it there. */
  dial(address: string, port: number, signal: AbortSignal): Promise<Duplex | null>;
  close(): Promise<void>;
}

export function openConnection(target: SshTarget): SshConnection {
  let current: Promise<Client> | undefined;
  let closed = false;
  const turn = createTurns(MOST_AT_ONCE);

  const connected = async (signal: AbortSignal): Promise<Client> => {
    if (closed) throw away(target, 'the connection was closed', undefined);
    // Whoever comes while it is being made waits for the same one; it is not called off for one of them.
    if (current === undefined) {
      // An older one that ends late takes nothing from the one that has replaced it.
      const mine = connect(target, () => {
        if (current === mine) current = undefined;
      });
      current = mine;
    }
    return within(signal, current, target);
  };

  return {
    async run(argv, options) {
      const command = quoteForShell(argv);
      const limit = anySignal([options.signal, AbortSignal.timeout(options.timeoutMs)]);
      return turn(limit, target, async () =>
        exec(await connected(limit), command, target, { ...options, signal: limit }, options.signal),
      );
    },
    dial: (address, port, signal) =>
      turn(signal, target, async () => forward(await connected(signal), address, port, target, signal)),
    async close() {
      closed = true;
      (await current?.catch(() => undefined))?.end();
    },
  };
}

async function connect(target: SshTarget, gone: () => void): Promise<Client> {
  const { jump } = target;
  const opened: Client[] = [];
  const end = (): void => {
    gone();
    for (const each of opened) each.end();
  };
  const keep = (client: Client): Client => {
    opened.push(client.on('close', end));
    return client;
  };
  const limit = () => AbortSignal.timeout(LOGIN_MS);
  try {
    const first = jump ? keep(await logIn(jump, limit())) : null;
    const through = async () => {
      const stream = first && (await forward(first, target.host, target.port, target, limit()));
      if (stream) return stream;
      throw away(target, `nobody takes connections there, asked from ${jump?.host}`, undefined);
    };
    const client = keep(await logIn(target, limit(), first ? through : undefined));
    await checkShell(client, target);
    return client;
  } catch (error) {
    end();
    throw error;
  }
}

/** What a shell that is not POSIX's, or one that says something by itself, gives back as something else. */
const PROBE = `sentry \\ ! $HOME "x" 'y' \`z\` ~ *\n{a,b} #`;

async function checkShell(client: Client, target: SshTarget): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  const options = { timeoutMs: 10_000, signal, maxBytes: 4_096 };
  const { stdout } = await exec(client, quoteForShell(['printf', '%s', PROBE]), target, options, signal);
  if (stdout.toString('utf8') === PROBE) return;
  throw new OpsError(
    'HOST_SHELL',
    `The shell of ${target.user} on ${target.host} does not answer as sh does.`,
    {
      hint: `Give the account a POSIX shell that writes nothing by itself (chsh -s /bin/sh ${target.user}), and no ForceCommand in sshd's configuration.`,
    },
  );
}

function exec(
  client: Client,
  command: string,
  target: SshTarget,
  options: RemoteOptions,
  caller: AbortSignal,
): Promise<RemoteRun> {
  return new Promise((resolve, reject) => {
    const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let left = options.maxBytes;
    let leftAfterClose = MOST_AFTER_CLOSE;
    let isOver = false;
    let killed: RemoteRun['killed'] = null;
    let code: number | null = null;
    let hasEnded = false;
    let channel: ClientChannel | undefined;
    let closing: NodeJS.Timeout | undefined;

    const settle = (): void => {
      clearTimeout(closing);
      options.signal.removeEventListener('abort', stop);
      client.removeListener('close', broken);
    };
    const done = (isLost: boolean): void => {
      settle();
      isOver = true;
      const [stdout, stderr] = [Buffer.concat(parts.stdout), Buffer.concat(parts.stderr)];
      resolve({ code: killed === null ? code : null, stdout, stderr, killed, isLost });
    };
    // An end by a signal is told, too: what never ends was cut off.
    const broken = (): void => done(!hasEnded && killed === null);
    const kill = (why: NonNullable<RemoteRun['killed']>): void => {
      if (killed !== null || hasEnded) return;
      killed = why;
      // sshd kills the whole group; what it may not kill ends by its own `timeout`.
      channel?.signal('KILL');
      channel?.close();
      closing = setTimeout(() => done(false), CLOSE_MS);
    };
    const stop = (): void => kill(caller.aborted ? 'aborted' : 'timeout');
    const take = (into: Buffer[]) => (chunk: Buffer) => {
      if (isOver) {
        leftAfterClose -= chunk.length;
        if (leftAfterClose < 0) client.destroy();
      }
      // Not even an empty part of it is kept: that would hold the whole chunk in memory.
      if (isOver || left === 0) return;
      into.push(chunk.subarray(0, left));
      left -= Math.min(left, chunk.length);
      if (left === 0) kill('output');
    };

    if (options.signal.aborted) return reject(away(target, 'it took too long', undefined));
    options.signal.addEventListener('abort', stop, { once: true });
    client.once('close', broken);
    const onOpened = (error: Error | undefined, opened: ClientChannel): void => {
      if (error) {
        const isRefused = /Channel open failure: (?!server closed)|^Unable to exec$/u.test(messageOf(error));
        if (!isRefused) return broken();
        settle();
        return reject(
          away(
            target,
            `it opens no session for a command (${plainWords(messageOf(error), 200)})`,
            error,
            'Raise MaxSessions of its sshd, or look into its log.',
          ),
        );
      }
      channel = opened;
      opened.on('data', take(parts.stdout));
      opened.stderr.on('data', take(parts.stderr));
      opened.on('exit', (given: number | null) => {
        hasEnded = true;
        code = given;
      });
      opened.on('close', broken);
      opened.on('error', broken);
      opened.end(options.input ?? '');
      if (killed !== null) {
        opened.signal('KILL');
        opened.close();
      }
    };
    try {
      client.exec(command, onOpened);
    } catch (error) {
      // Its end is known and not yet told: nothing was sent.
      settle();
      reject(away(target, 'the connection was closed', error));
    }
  });
}

/** Null: the other side says that nobody takes connections there. */
function forward(
  client: Client,
  address: string,
  port: number,
  target: SshTarget,
  signal: AbortSignal,
): Promise<Duplex | null> {
  const opening = openForward(client, address, port, target);
  // What opens when nobody waits for it any more is closed.
  const late = (): void => void opening.then((stream) => stream?.destroy()).catch(() => undefined);
  return within(signal, opening, target).catch((error: unknown) => {
    late();
    throw error;
  });
}

function openForward(
  client: Client,
  address: string,
  port: number,
  { host }: SshTarget,
): Promise<Duplex | null> {
  return new Promise((resolve, reject) => {
    const broken = (): void =>
      reject(
        new OpsError('HOST_AWAY', `The connection to ${host} broke.`, {
          hint: 'Try it again.',
          retryable: true,
        }),
      );
    client.once('close', broken);
    client.forwardOut('127.0.0.1', 0, address, port, (error, stream) => {
      client.removeListener('close', broken);
      if (!error) return resolve(stream);
      // RFC 4254, 5.1: 1 is administratively prohibited, 2 is that the connection failed.
      if ((error as { readonly reason?: unknown }).reason === 2) return resolve(null);
      reject(
        new OpsError(
          'HOST_NO_FORWARD',
          `sshd opens no connection to ${address}:${port} (${plainWords(messageOf(error), 200)}).`,
          {
            hint: `Allow it for the account: AllowTcpForwarding local and PermitOpen ${address}:${port} in sshd_config.`,
            cause: error,
          },
        ),
      );
    });
  });
}

function within<T>(signal: AbortSignal, work: Promise<T>, target: SshTarget): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(away(target, 'it took too long', undefined));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** So many at a time, in the order of their coming. */
function createTurns(most: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(signal: AbortSignal, target: SshTarget, work: () => Promise<T>): Promise<T> => {
    if (running >= most) {
      let enter: (() => void) | undefined;
      const mine = new Promise<void>((resolve) => {
        enter = resolve;
        waiting.push(resolve);
      });
      await within(signal, mine, target).catch((error: unknown) => {
        const at = enter ? waiting.indexOf(enter) : -1;
        if (at >= 0) waiting.splice(at, 1);
        else leave();
        throw error;
      });
    } else running += 1;
    try {
      return await work();
    } finally {
      leave();
    }
  };

  /** Whoever waits longest takes the place. */
  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

function away(
  { host, port }: SshTarget,
  why: string,
  cause: unknown,
  hint = 'Look whether the host and its sshd run.',
): OpsError {
  return new OpsError('HOST_AWAY', `${host}:${port}: ${why}.`, { hint, retryable: true, cause });
}
