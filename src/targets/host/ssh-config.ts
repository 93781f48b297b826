import { z } from 'zod';
import { readSecret, secretFile, secretVariable } from '../../safety/named-secret.ts';
import { readPublicKey } from '../../safety/secrets/public-key.ts';

/** A host key that is expected: any other one ends the connection before anything is sent that only the host may see. */
export interface HostKeyPin {
  readonly fingerprint: string;
  /** Null where only the fingerprint is known. */
  readonly type: string | null;
}

/** How to log in to a machine. */
export interface SshLogin {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly hostKeys: readonly HostKeyPin[];
  readonly by:
    | {
        readonly kind: 'key';
        readonly file: string;
        readonly key: string;
        readonly passphrase: string | null;
      }
    | { readonly kind: 'agent'; readonly socket: string };
}

export interface SshTarget extends SshLogin {
  /** Logged in to first, to reach the machine from there. */
  readonly jump: SshLogin | null;
  /** Whether restarts run by `sudo -n`. */
  readonly sudo: boolean;
}

const HOW_TO_PIN =
  'pin the key of the host: run ssh-keyscan HOST, compare it with what its console says, and write it here as SHA256:… (ssh-keygen -lf) or as the whole line';

const hostKey = z.string().transform((text, context): HostKeyPin => {
  if (/^SHA256:[A-Za-z0-9+/]{43}$/u.test(text)) return { fingerprint: text, type: null };
  const key = readPublicKey(text);
  if (key) return key;
  context.addIssue(`is neither SHA256:… nor a line of a public key; ${HOW_TO_PIN}`);
  return z.NEVER;
});

const login = {
  host: z
    .string()
    .regex(
      /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$|^[0-9a-fA-F:]{2,45}$/u,
      'expected a host name or an address',
    ),
  port: z.number().int().min(1).max(65_535).default(22),
  user: z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/u, 'expected the name of an account'),
  host_key: z.preprocess(
    (given) => (typeof given === 'string' ? [given] : given),
    z.array(hostKey, HOW_TO_PIN).min(1, HOW_TO_PIN).max(8),
  ),
  key_file: secretFile.optional(),
  agent: z.literal(true).optional(),
  passphrase_env: secretVariable.optional(),
  passphrase_file: secretFile.optional(),
};

export const sshFields = z.strictObject({
  ...login,
  jump: z.strictObject(login).optional(),
  sudo: z.boolean().default(false),
});

type Env = Readonly<Record<string, string | undefined>>;
type Login = z.infer<z.ZodObject<typeof login>>;

/** What is wrong, a line each, tells files and variables and never what they hold. */
export function readSsh(
  { jump, sudo, ...own }: z.infer<typeof sshFields>,
  env: Env,
): SshTarget | readonly string[] {
  const target = readLogin(own, env, 'ssh');
  const first = jump ? readLogin(jump, env, 'ssh.jump') : null;
  if ('host' in target && (first === null || 'host' in first)) return { ...target, jump: first, sudo };
  return [target, first].flatMap((read) => (read === null || 'host' in read ? [] : read));
}

function readLogin(given: Login, env: Env, where: string): SshLogin | readonly string[] {
  const { host, port, user, host_key: hostKeys, key_file: file, agent } = given;
  const said = (problems: readonly string[]) => problems.map((problem) => `${where}: ${problem}`);
  if ((file === undefined) === (agent === undefined))
    return said(['name either key_file, the file of a private key, or agent: true']);
  const passphrase = readSecret('passphrase', given, env, () => undefined);
  if (passphrase.problems.length > 0) return said(passphrase.problems);
  if (file === undefined) {
    const socket = env['SSH_AUTH_SOCK'];
    if (!socket)
      return said(['agent: SSH_AUTH_SOCK is not set; start Sentry beside the agent, or name a key_file']);
    if (passphrase.secret !== null) return said(['passphrase: belongs to a key_file']);
    return { host, port, user, hostKeys, by: { kind: 'agent', socket } };
  }
  const key = readSecret('key', { key_file: file }, env, keyFault);
  if (key.secret === null) return said(key.problems);
  return {
    host,
    port,
    user,
    hostKeys,
    // A key is read by whole lines.
    by: { kind: 'key', file, key: `${key.secret}\n`, passphrase: passphrase.secret },
  };
}

function keyFault(text: string): string | undefined {
  if (/^-----BEGIN [A-Z ]*PRIVATE KEY-----$/mu.test(text)) return undefined;
  return readPublicKey(text)
    ? 'holds the public half of a key: name the file without .pub'
    : 'holds no private key in the format of OpenSSH or PEM';
}
