import { randomUUID } from 'node:crypto';
import { type Refusal, refuse } from '../../../../core/errors.ts';
import {
  type CheckedPath,
  checkPath,
  type PathFiles,
  refuseResolved,
} from '../../../../safety/paths/check-path.ts';
import { readPathText } from '../../../../safety/paths/path-text.ts';
import { contentOf, type FileContent } from '../../../../safety/paths/read-inside.ts';
import { type LinkFiles, resolvePath } from '../../../../safety/paths/resolve-path.ts';
import { isSecretFile } from '../../../../safety/paths/secret-files.ts';
import type { Walk, WalkedFile } from '../../../../safety/paths/walk-inside.ts';
import type { SessionOptions } from '../../../../tools/ports.ts';
import { READ_FILES, WALK } from './scripts.ts';
import { type RemoteShell, whole } from './shell.ts';

const TIMEOUT_MS = 10_000;
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 12;
const MAX_LISTING = 8 * 1024 * 1024;
/** What one command brings of several files. */
const BATCH_FILES = 64;
const BATCH_BYTES = 4 * 1024 * 1024;

const within = (signal?: AbortSignal): SessionOptions => ({
  timeoutMs: TIMEOUT_MS,
  signal: signal ?? AbortSignal.timeout(TIMEOUT_MS),
});

/** The file system of a host over ssh, as the path rules ask for it. */
export function remotePaths(shell: RemoteShell): PathFiles {
  const files: LinkFiles = {
    async realpath(path) {
      const { code, stdout, stderr } = whole(
        await shell.run(['readlink', '-v', '-n', '-e', '--', path], within()),
      );
      if (code === 0) return stdout.toString('utf8');
      throw Object.assign(new Error(`${path} cannot be resolved`), { code: errorCode(stderr) });
    },
    async exists(path) {
      return whole(await shell.run(['test', '-e', path, '-o', '-L', path], within())).code === 0;
    },
  };
  return {
    resolve: (path) => resolvePath(path, files),
    async kindOf(resolved) {
      const { code, stdout, stderr } = whole(await shell.run(['stat', '-c', '%f', '--', resolved], within()));
      if (code !== 0)
        return ['ENOENT', 'ENOTDIR'].includes(errorCode(stderr))
          ? 'missing'
          : refuse('PATH_UNREADABLE', `The path cannot be looked at (${errorCode(stderr)}).`);
      const type = Number.parseInt(stdout.toString('utf8'), 16) & 0o170000;
      if (type === 0o100000) return 'file';
      if (type === 0o040000) return 'directory';
      return refuse('PATH_NOT_A_FILE', 'The path is a device, a socket, a pipe or a link, not a file.');
    },
  };
}

const codes: readonly (readonly [string, string])[] = [
  ['No such file or directory', 'ENOENT'],
  ['Not a directory', 'ENOTDIR'],
  ['Too many levels of symbolic links', 'ELOOP'],
  ['Permission denied', 'EACCES'],
  ['File name too long', 'ENAMETOOLONG'],
];

function errorCode(stderr: Buffer): string {
  const text = stderr.toString('utf8');
  return codes.find(([words]) => text.trimEnd().endsWith(words))?.[1] ?? 'unknown error';
}

interface ReadOptions {
  readonly maxBytes?: number;
  readonly maxSize?: number;
  readonly fromEnd?: boolean;
}

/** As `readInside`, on the host. */
export async function readRemote(
  shell: RemoteShell,
  root: string,
  text: string,
  { maxBytes = 256 * 1024, maxSize, fromEnd = false }: ReadOptions = {},
): Promise<FileContent | Refusal> {
  const checked = await checkPath(root, text, remotePaths(shell));
  if (!checked.ok) return checked;
  if (checked.kind === 'missing') return refuse('PATH_MISSING', 'There is no such file.');
  if (checked.kind === 'directory') return refuse('PATH_NOT_A_FILE', 'The path is a folder, not a file.');
  const [read] = await readMany(shell, [checked], maxBytes, fromEnd, within());
  if (read?.ok && maxSize !== undefined && read.size > maxSize)
    return refuse('PATH_TOO_LARGE', `The file has ${read.size} bytes; at most ${maxSize} are read.`);
  return read ?? unreadable();
}

const unreadable = () => refuse('PATH_UNREADABLE', 'The file cannot be opened.');

const refusals: Readonly<Record<string, () => Refusal>> = {
  missing: () => refuse('PATH_MISSING', 'There is no such file.'),
  other: () => refuse('PATH_NOT_A_FILE', 'The path is not a regular file.'),
  changed: () => refuse('PATH_CHANGED', 'The file was replaced while it was opened. Try again.'),
};

/** Files that were checked, in their order. What the host did not send to the end is not known. */
async function readMany(
  shell: RemoteShell,
  files: readonly Pick<CheckedPath, 'resolved' | 'relative'>[],
  maxBytes: number,
  fromEnd: boolean,
  options: SessionOptions,
): Promise<readonly (FileContent | Refusal)[]> {
  const mark = randomUUID();
  const words = [String(maxBytes + 1), fromEnd ? 'tail' : 'head', ...files.map(({ resolved }) => resolved)];
  const { stdout, killed, isLost, code } = await shell.script(READ_FILES, words, {
    ...options,
    // Also of files that have grown since they were listed.
    maxBytes: maxBytes + BATCH_BYTES + files.length * 256,
    input: `${mark}\n`,
  });
  const records = split(stdout, Buffer.from(`${mark}\n`));
  const isCut = isLost || killed !== null || code !== 0;
  return files.map(({ relative }, at) => {
    const record = records[at];
    if (!record || (isCut && at === records.length - 1)) return unreadable();
    const line = record.indexOf(10);
    const head = record.subarray(0, Math.max(0, line)).toString('latin1');
    const [, size, mode] = /^(\d+) ([0-9a-f]+)$/u.exec(head) ?? [];
    if (size === undefined || mode === undefined) return (refusals[head] ?? unreadable)();
    const bytes = record.subarray(line + 1);
    const file = { relative, size: Number(size), mode: Number.parseInt(mode, 16) & 0o7777 };
    // One more than the limit tells that there are more: at the front where the end was read.
    const isEnd = fromEnd && bytes.length > maxBytes;
    return contentOf(file, isEnd ? bytes.subarray(1) : bytes, maxBytes, isEnd);
  });
}

function split(bytes: Buffer, mark: Buffer): readonly Buffer[] {
  const parts: Buffer[] = [];
  let from = bytes.indexOf(mark);
  while (from !== -1) {
    const next = bytes.indexOf(mark, from + mark.length);
    parts.push(bytes.subarray(from + mark.length, next === -1 ? bytes.length : next));
    from = next;
  }
  return parts;
}

/** The ends of files of a walk: many small ones by one command. */
export async function* remoteEnds(
  shell: RemoteShell,
  files: readonly WalkedFile[],
  maxBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<FileContent | Refusal> {
  let at = 0;
  while (at < files.length) {
    const batch: WalkedFile[] = [];
    let bytes = 0;
    for (const file of files.slice(at, at + BATCH_FILES)) {
      bytes += Math.min(file.size, maxBytes);
      if (batch.length > 0 && bytes > BATCH_BYTES) break;
      batch.push(file);
    }
    at += batch.length;
    // What a path may not be called is not asked for, as it would not be on this machine.
    const readable = batch.filter(({ relative }) => relative === '' || readPathText(relative).ok);
    const read = readable.length === 0 ? [] : await readMany(shell, readable, maxBytes, true, within(signal));
    for (const file of batch) yield read[readable.indexOf(file)] ?? unreadable();
  }
}

/** As `walkInside`, on the host: ages are by the host's clock. */
export async function walkRemote(
  shell: RemoteShell,
  root: string,
  text: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Walk | Refusal> {
  const checked = await checkPath(root, text, remotePaths(shell));
  if (!checked.ok) return checked;
  if (checked.kind === 'missing') return refuse('PATH_MISSING', 'There is no such file or folder.');
  const words = [checked.resolved, String(MAX_DEPTH + 1), String(MAX_ENTRIES + 1)];
  const run = await shell.script(WALK, words, { ...within(signal), maxBytes: MAX_LISTING });
  const isCut = run.killed !== null || run.isLost || run.code === null || run.code === 137;
  const [now = '', ...entries] = run.stdout.toString('utf8').split('\0').slice(0, -1);
  if (run.code === 3)
    return refuse('PATH_CHANGED', 'The folder was replaced while it was entered. Try again.');
  if (now === '') return refuse('PATH_UNREADABLE', 'The folder cannot be looked into.');
  const readAt = Date.now();
  const files: WalkedFile[] = [];
  let withheld = 0;
  let isComplete = !isCut && entries.length <= MAX_ENTRIES;
  for (const entry of entries) {
    const [type, depth, size, blocks, modified, ...parts] = entry.split('\t');
    // The last one: a name may hold a tab.
    const name = parts.join('\t');
    const relative = [checked.relative, name].filter(Boolean).join('/');
    const resolved = name === '' ? checked.resolved : `${checked.resolved}/${name}`;
    if (type === 'd' && Number(depth) > MAX_DEPTH) isComplete = false;
    if (refuseResolved(checked.root, resolved) || isSecretFile(relative)) withheld += 1;
    else if (type === 'f')
      files.push({
        relative,
        resolved,
        size: Number(size),
        allocated: Number(blocks) * 512,
        modifiedAt: new Date(readAt - (Number(now) - Number(modified)) * 1000),
      });
    else if (type !== 'd') withheld += 1;
  }
  const unreadFolders = run.stderr
    .toString('utf8')
    .split('\n')
    .filter((line) => line.endsWith(': Permission denied')).length;
  return { ok: true, root: checked.root, files, withheld, complete: isComplete, unreadFolders };
}
