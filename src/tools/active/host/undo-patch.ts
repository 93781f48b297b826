import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { OpsError, refuse } from '../../../domain/errors.ts';
import type { PatchReceipt } from '../../../security/diffs/receipt.ts';
import { defineActiveTool, type ToolContext } from '../../define.ts';
import { hostOf, hostPath, orThrow, placeOf } from '../../read/host/host-path.ts';
import { sha256Of } from './apply-patch.ts';
import { passed } from './deadline.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256, hexadecimal');
const input = z.strictObject({
  file_path: hostPath,
  backup: z
    .string()
    .regex(/^[^/]{1,240}\.bak(?:\.\d{1,3})?$/, 'expected the name of the .bak file beside it')
    .describe('The backup that apply_patch named.'),
  written_sha256: sha256.describe('What apply_patch wrote.'),
  original_sha256: sha256.describe('What it replaced.'),
});
type Input = z.infer<typeof input>;
type UndoGuard = { readonly file: string; readonly now_sha256: string };

/** Puts back what `apply_patch` replaced. Its result holds the input for this. */
export const undoPatchTool = defineActiveTool<Input, UndoGuard>({
  name: 'undo_patch',
  description:
    'Puts back the file that apply_patch replaced, from its .bak, only while the file still is exactly what was written. Take all four values from the result of apply_patch.',
  kind: 'active',
  domain: 'any',
  targetKind: 'host',
  input,
  timeoutMs: 20_000,
  command: ({ file_path: file, backup, written_sha256: written }) =>
    `restore ${file} from ${join(dirname(file), backup)} if it still is ${written}`,
  async rules(context, { file_path: file, backup }) {
    const place = await placeOf(context, file, ({ patch }) => patch);
    if (!place.ok) return place;
    return backup.startsWith(`${basename(file)}.bak`)
      ? undefined
      : refuse('PATCH_BACKUP', 'The backup is not one of this file.');
  },
  async preflight(context, given) {
    const { file, now } = await unchanged(context, given);
    return {
      guard: { file, now_sha256: now },
      clock: hostOf(context).clock(),
      lines: [`${file} still is what the patch wrote; its backup ${given.backup} is there.`],
      blastRadius: 'One file. Whatever reads it sees the old content when it reads it next.',
      undo: 'The same patch can be proposed again; the backup stays.',
      risk: 'medium',
    };
  },
  async run(context, given, guard, deadline) {
    const { receipt, now, file } = await unchanged(context, given);
    if (now !== guard.now_sha256)
      return { kind: 'failed', text: `Nothing was done: ${file} is not what the patch wrote.` };
    const host = hostOf(context);
    if (passed(host.clock(), deadline))
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
  verify: ({ file_path: path, original_sha256: original }) => ({
    steps: [
      {
        tool: 'read_file',
        input: { path, lines: 1 },
        holds: `result.sha256 == "${original}"`,
        says: `${path} is what it was before the patch`,
      },
    ],
    holdMs: 2_000,
    timeoutMs: 20_000,
  }),
});

/** The file, its backup and the receipt to undo by. Throws GONE when either is not what the patch left. */
async function unchanged(
  context: ToolContext,
  given: Input,
): Promise<{ readonly receipt: PatchReceipt; readonly now: string; readonly file: string }> {
  const place = orThrow(await placeOf(context, given.file_path, ({ patch }) => patch));
  const { access } = hostOf(context);
  const checked = orThrow(await access.check(place.root.path, place.path));
  const backupPath = join(dirname(given.file_path), given.backup);
  const now = await sha256Of(context, given.file_path);
  const kept = await sha256Of(context, backupPath);
  if (now !== given.written_sha256 || kept !== given.original_sha256)
    throw new OpsError(
      'GONE',
      now === given.written_sha256
        ? `${given.backup} is not what the patch kept.`
        : `${given.file_path} is not what the patch wrote; nothing is overwritten.`,
      { hint: 'Compare the two by hand (compare_files).' },
    );
  const opened = {
    kind: 'modify',
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
  };
}

/** Permission bits, which the file keeps. */
async function modeOf(context: ToolContext, root: string, path: string): Promise<number> {
  const read = orThrow(await hostOf(context).access.read(root, path, { maxBytes: 1 }));
  return read.mode;
}
