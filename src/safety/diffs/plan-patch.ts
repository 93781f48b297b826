import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Refusal, refuse } from '../../core/errors.ts';
import { checkPath } from '../paths/check-path.ts';
import { openInside } from '../paths/open-inside.ts';
import { decodeText, readUpTo } from '../paths/read-inside.ts';
import { sha256 } from '../sha256.ts';
import { fitToFile } from './fit-to-file.ts';
import { parseDiff } from './parse-diff.ts';
import { type DiffLimits, defaultDiffLimits, type FilePatch } from './patch-types.ts';
import { scratchApply } from './scratch-apply.ts';

/** One file as it is and as it will be; exactly `after` is written, and only onto `beforeSha256`. */
export interface PlannedFile {
  readonly kind: FilePatch['kind'];
  /** Relative to the root. */
  readonly path: string;
  /** SHA-256 of the content, hexadecimal; null where there is no file. */
  readonly beforeSha256: string | null;
  readonly afterSha256: string | null;
  readonly after: Buffer | null;
  /** Permission bits, kept. */
  readonly mode: number;
}

export interface PatchPlan {
  readonly ok: true;
  /** With links followed. */
  readonly root: string;
  readonly files: readonly PlannedFile[];
  readonly added: number;
  readonly removed: number;
}

export interface PlanOptions {
  readonly limits?: DiffLimits;
  /** The seed's `file_path`: when given, the diff may touch this file only. */
  readonly onlyFile?: string;
  readonly signal?: AbortSignal;
}

/** Files that a patch never touches, besides secret ones: what a checkout or a shell runs by itself. */
const neverPatched =
  /(?:^|\/)(?:\.git|\.svn|\.hg|\.github|\.husky|\.githooks|\.[^/]*rc|\.[^/]*profile|[^/]+\.bak(?:\.\d+)?)(?:\/|$)/iu;

/**
 * Checks a diff against the files under a root and computes what it would make of them. Nothing is changed. Refuses
 * whatever is not a plain text change of plain files inside the root.
 */
export async function planPatch(
  root: string,
  diff: string,
  options: PlanOptions = {},
): Promise<PatchPlan | Refusal> {
  const limits = options.limits ?? defaultDiffLimits;
  const parsed = parseDiff(diff, limits);
  if (!parsed.ok) return parsed;
  const top = await checkPath(root, '.');
  if (!top.ok) return top;
  const found = new Map<string, Found>();
  const patches: FilePatch[] = [];
  for (const file of parsed.files) {
    if (options.onlyFile !== undefined && file.path !== options.onlyFile.replace(/^\.\//u, ''))
      return refuse('DIFF_PATH', `The diff touches ${file.path}, not only ${options.onlyFile}.`);
    const read = await readFound(top.root, file, limits);
    if ('ok' in read) return read;
    const fitted = fitToFile(file, read.content === null ? null : read.content.toString('utf8'));
    if (!fitted.ok) return fitted;
    found.set(file.path, read);
    patches.push(fitted.file);
  }
  const before = new Map([...found].map(([path, { content }]) => [path, content]));
  const applied = await scratchApply(patches, before, options.signal);
  if (!applied.ok) return applied;
  const files = parsed.files.map(({ kind, path }) =>
    plannedFile(kind, path, found.get(path), applied.after.get(path)),
  );
  const large = files.find(({ after }) => after !== null && after.length > limits.maxFileBytes);
  if (large)
    return refuse('DIFF_TOO_LARGE', `${large.path} would have more than ${limits.maxFileBytes} bytes.`);
  return {
    ok: true,
    root: top.root,
    files,
    added: parsed.files.reduce((sum, { added }) => sum + added, 0),
    removed: parsed.files.reduce((sum, { removed }) => sum + removed, 0),
  };
}

interface Found {
  readonly content: Buffer | null;
  readonly mode: number;
}

async function readFound(root: string, file: FilePatch, limits: DiffLimits): Promise<Found | Refusal> {
  if (neverPatched.test(file.path))
    return refuse('DIFF_PATH', `${file.path} is a kind of file that a patch never touches.`);
  const checked = await checkPath(root, file.path);
  if (!checked.ok) return checked;
  // A link on the way would make the patch change another file than the one that was shown.
  if (checked.resolved !== join(root, file.path))
    return refuse('DIFF_LINK', `${file.path} is, or lies behind, a symbolic link.`);
  if (file.kind === 'create') return readAbsent(root, file.path, checked.kind);
  const opened = await openInside(root, file.path, { maxSize: limits.maxFileBytes });
  if (!opened.ok) return opened;
  try {
    // It is another file as well, perhaps outside of the root, and what is written would no longer be.
    if ((await opened.handle.stat()).nlink > 1)
      return refuse('DIFF_LINK', `${file.path} has another name too (a hard link).`);
    const content = await readUpTo(opened.handle, limits.maxFileBytes + 1);
    if (content.length > limits.maxFileBytes) return refuse('PATH_TOO_LARGE', `${file.path} is too large.`);
    if (decodeText(content, false) === undefined)
      return refuse('DIFF_BINARY', `${file.path} is a binary file.`);
    return { content, mode: opened.mode & 0o777 };
  } finally {
    await opened.handle.close();
  }
}

async function readAbsent(root: string, path: string, kind: string): Promise<Found | Refusal> {
  if (kind !== 'missing') return refuse('DIFF_EXISTS', `${path} is to be created but exists.`);
  try {
    const parent = await lstat(dirname(join(root, path)));
    if (parent.isDirectory()) return { content: null, mode: 0o644 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return refuse('DIFF_PATH', `The folder of ${path} does not exist.`);
}

function plannedFile(
  kind: FilePatch['kind'],
  path: string,
  found: Found | undefined,
  after: Buffer | null | undefined,
): PlannedFile {
  return {
    kind,
    path,
    beforeSha256: found?.content
      ? sha256(found.content)
      : found?.content === null
        ? null
        : sha256(Buffer.alloc(0)),
    afterSha256: after ? sha256(after) : null,
    after: after ?? null,
    mode: found?.mode ?? 0o644,
  };
}
