import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Client, ConnectConfig } from 'ssh2';
import { messageOf, OpsError } from '../../../../core/errors.ts';
import { plainWords } from '../../../../core/plain-words.ts';
import { fingerprintOf } from '../../../../safety/secrets/public-key.ts';
import type { SshLogin } from '../../ssh-config.ts';
import { algorithmsFor, hostKeyDiffers } from './host-key.ts';

/** A broken line is noticed within three of these. */
const KEEPALIVE_MS = 10_000;
const HANDSHAKE_MS = 10_000;
/** Bytes: twice what a server's window lets us send of a channel before it has read. */
const MOST_UNREAD = 4 * 1024 * 1024;

/**
 * Logs in. A host key that is not pinned ends it before the account is named. `through`: the stream to the server, made anew
 * for each try; by TCP when left out. Throws OpsError HOST_AWAY, HOST_KEY_DIFFERS, HOST_LOGIN or HOST_SSH_KEY.
 */
export async function logIn(
  login: SshLogin,
  signal: AbortSignal,
  through?: () => Promise<Duplex>,
): Promise<Client> {
  // Loaded where such a host is: no other start or command needs it.
  const ssh2 = await import('ssh2');
  const seen = new Set<string>();
  for (const serverHostKey of algorithmsFor(login.hostKeys)) {
    const client = new ssh2.Client();
    let sock: Duplex | undefined;
    try {
      sock = (await through?.()) ?? connect(login.port, login.host).setMaxListeners(0);
      endWhenUnread(client, sock);
      await ready(client, signal, {
        sock,
        username: login.user,
        ...credentials(login),
        algorithms: { serverHostKey: [...serverHostKey] },
        hostVerifier: (key: Buffer) => {
          const fingerprint = fingerprintOf(key);
          seen.add(fingerprint);
          return login.hostKeys.some((pin) => pin.fingerprint === fingerprint);
        },
        readyTimeout: HANDSHAKE_MS,
        keepaliveInterval: KEEPALIVE_MS,
        keepaliveCountMax: 3,
      });
      return client;
    } catch (error) {
      client.destroy();
      // Not yet the client's where that refused what it was given.
      sock?.on('error', () => undefined).destroy();
      if (!isOtherKey(error)) throw asFault(error, login);
    }
  }
  throw hostKeyDiffers(login, [...seen]);
}

/** ssh2 answers whatever a server asks and keeps the answers for it, also for one that asks without end and reads none. */
function endWhenUnread(client: Client, sock: Duplex): void {
  // Before that nothing else may be asked, and nobody may take the bytes away from ssh2.
  client.once('handshake', () => {
    sock.on('data', () => {
      if (sock.writableLength > MOST_UNREAD) client.destroy();
    });
  });
}

function ready(client: Client, signal: AbortSignal, config: ConnectConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = (): void => {
      client.destroy();
      reject(new Error('it took too long'));
    };
    signal.addEventListener('abort', stop, { once: true });
    const settled = () => signal.removeEventListener('abort', stop);
    let agent: Error | undefined;
    client.once('ready', () => {
      settled();
      resolve();
    });
    client.on('error', (error) => {
      // It goes on without the agent, and then nothing is left to try.
      if (error.level === 'agent') {
        agent = error;
        return;
      }
      settled();
      reject(agent ?? error);
    });
    client.once('close', () => {
      settled();
      reject(new Error('the connection was closed'));
    });
    try {
      client.connect(config);
    } catch (error) {
      settled();
      reject(error);
    }
  });
}

function credentials({ by }: SshLogin): Partial<ConnectConfig> {
  if (by.kind === 'agent') return { agent: by.socket };
  return { privateKey: by.key, ...(by.passphrase === null ? {} : { passphrase: by.passphrase }) };
}

/** Another key of the server may be the pinned one. Found here: what a server says is its own words. */
function isOtherKey(error: unknown): boolean {
  return (
    (error as { readonly level?: string }).level === 'handshake' &&
    /Host denied|no matching host key format/u.test(messageOf(error))
  );
}

const networkWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody takes connections there',
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'its name cannot be looked up now',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ECONNRESET: 'it ended the connection',
};

function asFault(error: unknown, login: SshLogin): OpsError {
  if (error instanceof OpsError) return error;
  const { level, code } = error as { readonly level?: string; readonly code?: string | number };
  // A number: the server ended it and says why, whoever it is. Nothing is concluded from its words.
  const isItsWord = typeof code === 'number';
  const said = plainWords(messageOf(error), 200);
  const { host, port, user, by } = login;
  const who = by.kind === 'key' ? `the key in ${by.file}` : 'no key of the agent';
  if (level === 'client-authentication')
    return new OpsError('HOST_LOGIN', `${host}:${port} does not let ${user} in by ${who}.`, {
      hint: `Put the public key into ~/.ssh/authorized_keys of ${user} there (owned by ${user}, not writable by others), and look whether AllowUsers, DenyUsers and the account's shell let it in: the reason is in the host's log of sshd.`,
    });
  if (level === 'agent')
    return new OpsError('HOST_SSH_KEY', `The ssh agent cannot be asked (${said}).`, {
      hint: 'Look whether the agent that SSH_AUTH_SOCK names runs and may be reached by Sentry.',
    });
  if (!isItsWord && /privateKey|passphrase|private key/iu.test(said) && by.kind === 'key')
    return new OpsError(
      'HOST_SSH_KEY',
      `The key in ${by.file} cannot be used: ${keyWords(said, by.passphrase)}.`,
      {
        hint: 'Name its passphrase by passphrase_env or passphrase_file, or make a key for Sentry alone: ssh-keygen -t ed25519 -N "".',
      },
    );
  return new OpsError(
    'HOST_AWAY',
    `${host}:${port} could not be connected to: ${isItsWord ? `it says: ${said}` : (networkWords[code ?? ''] ?? said)}.`,
    {
      hint: 'Look whether the host and its sshd run, and whether Sentry may reach that port.',
      retryable: true,
      cause: error,
    },
  );
}

function keyWords(said: string, passphrase: string | null): string {
  if (/no passphrase/iu.test(said)) return 'it is encrypted, and no passphrase is named';
  return passphrase === null ? 'it is of no known format' : 'the passphrase does not open it';
}
