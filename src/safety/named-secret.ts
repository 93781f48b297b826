import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { whyNot } from '../core/system-fault.ts';

type Env = Readonly<Record<string, string | undefined>>;
/** What a kind asks a secret to be; undefined: it is. Never with the secret. */
type Fault = (secret: string) => string | undefined;

const MAX_BYTES = 64 * 1024;

// Whoever writes the secret itself here must not read it again in the error.
/** The field `<name>_env`: no credential stands in `sentry.yaml`. */
export const secretVariable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable that holds it');

/** The field `<name>_file`. */
export const secretFile = z
  .string()
  .regex(/^\/[^\0]*$/, 'expected the absolute path of a file that holds it');

/**
 * The secret that an entry names by `<name>_env` or `<name>_file`; null where it names none. What is wrong, a line each, tells
 * the variable or the file, and never what it holds.
 */
export function readSecret<N extends string>(
  name: N,
  entry: { readonly [field in `${N}_env` | `${N}_file`]?: string | undefined },
  env: Env,
  faultOf: Fault,
): { readonly secret: string | null; readonly problems: readonly string[] } {
  const [inEnv, inFile] = [`${name}_env`, `${name}_file`] as const;
  const [variable, path] = [entry[inEnv], entry[inFile]];
  const none = (problem: string) => ({ secret: null, problems: [problem] });
  if (variable !== undefined && path !== undefined)
    return none(`${inFile}: name a variable or a file, not both`);
  if (variable === undefined && path === undefined) return { secret: null, problems: [] };
  const [source, field] = variable === undefined ? [path ?? '', inFile] : [variable, inEnv];
  const found = variable === undefined ? textOf(source) : { text: env[variable] };
  if ('problem' in found) return none(`${source}, which ${field} names, ${found.problem}`);
  if (!found.text)
    return none(
      variable === undefined
        ? `${source}, which ${field} names, is empty`
        : `${source} is not set, and ${field} names it`,
    );
  const fault = faultOf(found.text);
  return fault === undefined
    ? { secret: found.text, problems: [] }
    : none(`${source}, which ${field} names, ${fault}`);
}

function textOf(path: string): { readonly text: string } | { readonly problem: string } {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_BYTES) return { problem: 'is no file with a secret' };
    // Its group may read it: that is how Kubernetes and Docker hand secrets to an ordinary user.
    if ((stats.mode & 0o027) !== 0)
      return {
        problem: 'can be read or written by others; run chmod 640 or 600 (Kubernetes: defaultMode: 0440)',
      };
    return { text: readFileSync(path, 'utf8').trim() };
  } catch (error) {
    return { problem: `cannot be read: ${whyNot(error)}` };
  }
}
