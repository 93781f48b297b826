import { join } from 'node:path';
import { z } from 'zod';
import type { ActionOutcome } from '../../../core/action.ts';
import type { TouchedObject } from '../../../core/denial.ts';
import { messageOf, OpsError, orThrow, type Refusal, refuse } from '../../../core/errors.ts';
import { parseDiff } from '../../../safety/diffs/parse-diff.ts';
import type { PatchPlan, PlannedFile } from '../../../safety/diffs/plan-patch.ts';
import { sha256 } from '../../../safety/sha256.ts';
import type { Preflight, ToolContext } from '../../../tools/define.ts';
import { passed } from '../../boot-clock.ts';
import { type HostContext, hostPath, placeOf } from '../read/host-path.ts';
import type { Host } from '../system.ts';
import { hostTool } from '../tool.ts';

interface Input {
  readonly file_path: string;
  readonly diff: string;
}

/** The file as it is, and what would be written. */
type PatchGuard = {
  readonly file: string;
  readonly before_sha256: string | null;
  readonly after_sha256: string;
  /** Who runs it runs the change: that is another risk. */
  readonly executable: boolean;
};

/** The card shows the whole diff, so it must fit there: what nobody can read on the card cannot be approved. */
const MAX_DIFF = 2_500;

export const applyPatch = hostTool.active<Input, PatchGuard>({
  name: 'apply_patch',
  description:
    'Changes one text file of the host by a unified diff ("--- a/PATH", "+++ b/PATH" with the path relative to the target’s folder, hunks with context). The old file is kept beside it as .bak; undo_patch puts it back. Only below folders that are declared for patching. Nothing re-reads the file by itself: a service may have to be restarted.',
  kind: 'active',
  input: z.strictObject({
    file_path: hostPath.describe('The one file that the diff changes.'),
    diff: z
      .string()
      .min(10)
      .max(MAX_DIFF, `at most ${MAX_DIFF} characters: the approval card shows all of it`),
  }),
  timeoutMs: 30_000,
  neverUnasked: true,
  verbs: {
    does: 'Change',
    did: 'Changed',
    button: 'Change the file',
    frees: 'What fails on what the file says.',
    costs: 'Whatever reads the file gets the new content.',
  },
  command: ({ file_path: file, diff }) => `patch ${file}\n${diff.trimEnd()}`,
  async rules(context, { file_path: file, diff }) {
    const parsed = parseDiff(diff);
    if (!parsed.ok) return parsed;
    if (parsed.files.some(({ kind }) => kind === 'delete'))
      return refuse('DIFF_DELETE', 'A patch deletes no files.');
    const place = await patchable(context, file);
    if (!place.ok) return place;
    const checked = await context.system.access.check(place.root.path, place.path);
    if (!checked.ok) return checked;
    return parsed.files.length === 1 && parsed.files[0]?.path === checked.relative
      ? undefined
      : refuse(
          'DIFF_PATH',
          `The diff must change exactly one file, written as a/${checked.relative} and b/${checked.relative}.`,
        );
  },
  async preflight(context, input) {
    const { planned, added, removed, file, real } = await patchOf(context, input);
    const guard = guardOf(planned, file);
    const { executable } = guard;
    return {
      guard,
      clock: await context.system.machine.clock(),
      lines: [
        `${file}: ${planned.kind === 'create' ? 'does not exist yet' : `SHA-256 ${planned.beforeSha256?.slice(0, 16)}…`}`,
        `git apply --check: applies cleanly (+${added} −${removed} lines)`,
        ...(executable ? ['It is executable: whoever runs it runs the change.'] : []),
      ],
      blastRadius: `One file (+${added} −${removed} lines). Whatever reads it sees the change when it reads it next.`,
      undo:
        planned.kind === 'create'
          ? 'The Undo button removes the file while it still is what was written.'
          : `The old file is kept beside it as ${planned.path.split('/').at(-1)}.bak (numbered, never overwriting); the Undo button puts it back while the file still is what was written.`,
      risk: executable ? 'high' : 'medium',
      about: { real },
    };
  },
  objects: fileObjects,
  async run(context, input, guard, deadline) {
    const { plan, planned, file } = await patchOf(context, input);
    const now = guardOf(planned, file);
    if (
      now.before_sha256 !== guard.before_sha256 ||
      now.after_sha256 !== guard.after_sha256 ||
      now.executable !== guard.executable
    )
      return { kind: 'failed', text: `Nothing was done: ${file} is not what it was when this was approved.` };
    // `guard.file` is what was approved; the same as `file`, or the root leads elsewhere by now.
    if (file !== guard.file)
      return { kind: 'failed', text: `Nothing was done: ${guard.file} leads elsewhere.` };
    return write(context, plan, guard, async () => passed(await context.system.machine.clock(), deadline));
  },
  async look(context, input, guard) {
    const now = await sha256Of(context, input.file_path);
    if (now === guard.after_sha256) return 'done';
    return now === guard.before_sha256 ? 'not_done' : 'cannot_tell';
  },
  subject: ({ file_path: path }) => ({ kind: 'file', path }),
  effect: (input, guard) => ({
    steps: [
      {
        tool: 'read_file',
        input: { path: input.file_path, lines: 1 },
        holds: `result.sha256 == "${guard.after_sha256}"`,
        says: `${input.file_path} is what was approved`,
      },
    ],
    holdMs: 2_000,
    timeoutMs: 20_000,
  }),
  inverse(data) {
    const left = Left.safeParse(data);
    return left.success ? { tool: 'undo_patch', input: left.data } : null;
  },
});

/** What a run has to say, which is what `undo_patch` takes. */
const Left = z.strictObject({
  file_path: z.string(),
  backup: z.string().nullable(),
  written_sha256: z.string(),
  original_sha256: z.string().nullable(),
});

async function write(
  context: ToolContext<Host>,
  plan: PatchPlan,
  guard: PatchGuard,
  late: () => Promise<boolean>,
): Promise<ActionOutcome> {
  const { file } = guard;
  try {
    const applied = await context.system.access.apply(plan, {
      // The last moment before the file is replaced; a rename cannot carry a deadline itself.
      beforeWrite: async () => {
        if (await late())
          throw new OpsError('DEADLINE', 'the deadline had passed', { hint: 'Propose it again.' });
      },
    });
    if (!applied.ok) return { kind: 'failed', text: `Nothing was done: ${applied.reason}` };
    const [done] = applied.receipt.files;
    const kept = done?.backup ? `; the old one is kept as ${done.backup}` : '';
    return {
      kind: 'succeeded',
      text: `${file} was patched (+${plan.added} −${plan.removed} lines)${kept}.`,
      data: {
        file_path: file,
        backup: done?.backup ?? null,
        written_sha256: done?.afterSha256 ?? null,
        original_sha256: done?.beforeSha256 ?? null,
      },
    };
  } catch (error) {
    if (error instanceof OpsError && error.code === 'PATCH_PARTIAL')
      return { kind: 'unknown', text: `${error.message} ${error.hint}` };
    return seenAfter(context, file, guard, messageOf(error));
  }
}

/** A fault in the middle: the file itself says whether it was replaced. */
async function seenAfter(
  context: ToolContext<Host>,
  file: string,
  guard: PatchGuard,
  why: string,
): Promise<ActionOutcome> {
  try {
    const now = await sha256Of(context, file);
    if (now === guard.before_sha256) return { kind: 'failed', text: `Nothing was done: ${why}` };
    return { kind: 'unknown', text: `${file} was written, or changed by somebody else: ${why}` };
  } catch (error) {
    return { kind: 'unknown', text: `${why} And ${file} cannot be read: ${messageOf(error)}` };
  }
}

function patchable(context: HostContext, path: string) {
  return placeOf(context, path, ({ patch }) => patch);
}

/** The plan of the one file. Throws what the rules refuse: the state moved between them and here. */
async function patchOf(
  context: ToolContext<Host>,
  { file_path: path, diff }: Input,
): Promise<{
  readonly plan: PatchPlan;
  readonly planned: PlannedFile;
  readonly added: number;
  readonly removed: number;
  /** Absolute. */
  readonly file: string;
  /** The same with all links followed. */
  readonly real: string;
}> {
  const place = orThrow(await patchable(context, path));
  const { access } = context.system;
  const { relative, resolved: real } = orThrow(await access.check(place.root.path, place.path));
  const plan = unlessMoved(
    await access.plan(place.root.path, diff, { onlyFile: relative, signal: context.signal }),
  );
  const [planned] = plan.files;
  if (!planned || plan.files.length !== 1)
    throw new OpsError('DIFF_PATH', 'The diff must change exactly one file.', { hint: 'One file a patch.' });
  const file = join(plan.root, planned.path);
  return { plan, planned, added: plan.added, removed: plan.removed, file, real };
}

/** The file by its real path: one that is reached by a link is the same. */
export function fileObjects(
  _input: unknown,
  { file }: { readonly file: string },
  { about }: Preflight,
): readonly TouchedObject[] {
  const { real = file } = (about ?? {}) as { readonly real?: string };
  return [{ kind: 'file', key: real, label: `file ${file}` }];
}

/** A diff that no longer applies is a state that moved: an approval of it is void, not failed. */
function unlessMoved(plan: PatchPlan | Refusal): PatchPlan {
  if (plan.ok || !['DIFF_DOES_NOT_APPLY', 'PATH_MISSING', 'DIFF_EXISTS'].includes(plan.code))
    return orThrow(plan);
  throw new OpsError('GONE', plan.reason, {
    hint: 'Read the file again and make the diff from what it is now.',
  });
}

function guardOf({ beforeSha256, afterSha256, mode }: PlannedFile, file: string): PatchGuard {
  return {
    file,
    before_sha256: beforeSha256,
    after_sha256: afterSha256 ?? '',
    executable: (mode & 0o111) !== 0,
  };
}

/** SHA-256 of a file's bytes; null when it is not there. */
export async function sha256Of(context: ToolContext<Host>, path: string): Promise<string | null> {
  const place = orThrow(await patchable(context, path));
  const read = await context.system.access.read(place.root.path, place.path, { maxBytes: 2 * 1024 * 1024 });
  if (!read.ok && read.code === 'PATH_MISSING') return null;
  const file = orThrow(read);
  if (file.kind === 'binary' || file.cut)
    throw new OpsError('PATH_NOT_TEXT', `${path} is binary or too large.`, { hint: 'Look by hand.' });
  return sha256(file.text);
}
