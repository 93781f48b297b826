import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { OpsError, orThrow, refuse } from '../../../core/errors.ts';
import type { PatchReceipt } from '../../../safety/diffs/receipt.ts';
import type { ToolContext } from '../../../tools/define.ts';
import { passed } from '../../boot-clock.ts';
import { hostPath, placeOf } from '../read/host-path.ts';
import type { Host } from '../system.ts';
import { hostTool } from '../tool.ts';
import { fileObjects, sha256Of } from './apply-patch.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256, hexadecimal');
const input = z.strictObject({
  file_path: hostPath,
  backup: z
    .string()
    .regex(/^[^/]{1,240}\.bak(?:\.\d{1,3})?$/, 'expected the name of the .bak file beside it')
    .nullable()
    .describe('The backup that apply_patch named; null for a file that it created.'),
  written_sha256: sha256.describe('What apply_patch wrote.'),
  original_sha256: sha256.nullable().describe('What it replaced; null for a file that it created.'),
});
type Input = z.infer<typeof input>;
type UndoGuard = { readonly file: string; readonly now_sha256: string; readonly executable: boolean };

/** Puts back what `apply_patch` replaced. Its result holds the input for this. */
export const undoPatchTool = hostTool.active<Input, UndoGuard>({
  name: 'undo_patch',
  description:
    'Puts back the file that apply_patch replaced, from its .bak, or removes the one it created, only while the file still is exactly what was written. Take all four values from the result of apply_patch.',
  kind: 'active',
  input,
  timeoutMs: 20_000,
  neverUnasked: true,
  verbs: {
    does: 'Put back',
    did: 'Put back',
    button: 'Put the file back',
    frees: 'What the patch broke.',
    costs: 'What the patch had mended may come back.',
  },
  command: ({ file_path: file, backup, written_sha256: written }) =>
    backup === null
      ? `remove ${file} if it still is ${written}`
      : `restore ${file} from ${join(dirname(file), backup)} if it still is ${written}`,
  async rules(context, { file_path: file, backup, original_sha256: original }) {
    const place = await placeOf(context, file, ({ patch }) => patch);
    if (!place.ok) return place;
    const fits = backup === null || backup.startsWith(`${basename(file)}.bak`);
    return fits && (backup === null) === (original === null)
      ? undefined
      : refuse('PATCH_BACKUP', 'The backup is not one of this file.');
  },
  async preflight(context, given) {
    const found = await unchanged(context, given);
    const { file, real } = found;
    const isExecutable = executable(found.receipt);
    return {
      guard: { file, now_sha256: found.now, executable: isExecutable },
      clock: await context.system.machine.clock(),
      lines: [
        `${file} still is what the patch wrote${given.backup === null ? '' : `; its backup ${given.backup} is there`}.`,
      ],
      blastRadius:
        given.backup === null
          ? 'One file, which the patch created, is removed. Whatever reads it does not find it any more.'
          : 'One file. Whatever reads it sees the old content when it reads it next.',
      undo: 'The same patch can be proposed again; the backup stays.',
      risk: isExecutable ? 'high' : 'medium',
      about: { real },
    };
  },
  objects: fileObjects,
  async run(context, given, guard, deadline) {
    const { receipt, now, file } = await unchanged(context, given);
    if (file !== guard.file || now !== guard.now_sha256 || executable(receipt) !== guard.executable)
      return { kind: 'failed', text: `Nothing was done: ${file} is not what the patch wrote.` };
    const host = context.system;
    if (passed(await host.machine.clock(), deadline))
      return { kind: 'failed', text: 'Nothing was done: the deadline had passed.' };
    const undone = await host.access.undo(receipt);
    return undone.ok
      ? { kind: 'succeeded', text: `${file} is what it was before the patch.` }
      : { kind: 'failed', text: `Nothing was done: ${undone.reason}` };
  },
  async look(context, given) {
    const now = await sha256Of(context, given.file_path);
    if (now === given.original_sha256) return 'done';
    return now === given.written_sha256 ? 'not_done' : 'cannot_tell';
  },
  effect: ({ file_path: path, original_sha256: original }) => ({
    steps: [
      {
        tool: 'read_file',
        input: { path, lines: 1 },
        holds: `result.sha256 == "${original}"`,
        says: `${path} is what it was before the patch`,
      },
    ].filter(() => original !== null),
    holdMs: 2_000,
    timeoutMs: 20_000,
  }),
});

function executable({ files }: PatchReceipt): boolean {
  return files.some(({ mode }) => (mode & 0o111) !== 0);
}

/** The file, its backup and the receipt to undo by. Throws GONE when either is not what the patch left. */
async function unchanged(
  context: ToolContext<Host>,
  given: Input,
): Promise<{
  readonly receipt: PatchReceipt;
  readonly now: string;
  readonly file: string;
  /** The same with all links followed. */
  readonly real: string;
}> {
  const place = orThrow(await placeOf(context, given.file_path, ({ patch }) => patch));
  const { access } = context.system;
  const checked = orThrow(await access.check(place.root.path, place.path));
  const now = await sha256Of(context, given.file_path);
  const kept =
    given.backup === null ? null : await sha256Of(context, join(dirname(given.file_path), given.backup));
  if (now !== given.written_sha256 || kept !== given.original_sha256)
    throw new OpsError(
      'GONE',
      now === given.written_sha256
        ? `${given.backup} is not what the patch kept.`
        : `${given.file_path} is not what the patch wrote: somebody has changed it since, and nothing is overwritten.`,
      {
        hint:
          given.backup === null
            ? 'Look at it by hand.'
            : `Compare it with ${given.backup} by hand, or ask in the thread for a patch of what it is now.`,
      },
    );
  const opened = {
    kind: given.backup === null ? 'create' : 'modify',
    path: checked.relative,
    backup: given.backup,
    beforeSha256: given.original_sha256,
    afterSha256: given.written_sha256,
    mode: await modeOf(context, place.root.path, place.path),
  } as const;
  return {
    receipt: { root: checked.root, files: [opened] },
    now,
    file: join(checked.root, checked.relative),
    real: checked.resolved,
  };
}

/** Permission bits, which the file keeps. */
async function modeOf(context: ToolContext<Host>, root: string, path: string): Promise<number> {
  const read = orThrow(await context.system.access.read(root, path, { maxBytes: 1 }));
  return read.mode;
}
