import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { OpsError, orThrow } from '../../../core/errors.ts';
import { diffTexts } from '../../../safety/diffs/diff-texts.ts';
import type { ToolContext } from '../../../tools/define.ts';
import type { Host } from '../system.ts';
import { hostTool } from '../tool.ts';
import { hostPath, pathRule, placeOf } from './host-path.ts';

const MAX_BYTES = 1024 * 1024;

/** How two files differ. Data: `{ same, diff, added, removed, missing }`; `missing`: the second is not there. */
export const compareFiles = hostTool.read({
  name: 'compare_files',
  description:
    'The unified diff that turns one text file of the host into another, e.g. a configuration into the backup beside it. The diff can be handed to apply_patch as it is.',
  kind: 'read',
  input: z.strictObject({ path: hostPath, with: hostPath }),
  timeoutMs: 10_000,
  async rules(context, input) {
    return (await pathRule(context, input.path)) ?? pathRule(context, input.with);
  },
  async run(context, input) {
    const from = await textOf(context, input.path);
    const to = await textOf(context, input.with);
    if (from === null)
      throw new OpsError('PATH_MISSING', `There is no file ${input.path}.`, {
        hint: 'Name a file that exists.',
      });
    if (to === null)
      return {
        text: `${input.with} is not there, so there is nothing to compare with.`,
        data: { same: false, diff: '', added: 0, removed: 0, missing: true },
      };
    const diff = await diffTexts(from.relative, from.text, to.text, { signal: context.signal });
    const lines = diff.split('\n').slice(2);
    const added = lines.filter((line) => line.startsWith('+')).length;
    const removed = lines.filter((line) => line.startsWith('-')).length;
    const data = { same: diff === '', diff, added, removed, missing: false };
    if (data.same) return { text: `${input.path} and ${input.with} are the same.`, data };
    return {
      text: `To make ${input.path} what ${input.with} is: ${count(added, 'line')} more, ${removed} less.\n${diff}`,
      data,
    };
  },
});

async function textOf(
  context: ToolContext<Host>,
  path: string,
): Promise<{ readonly text: string; readonly relative: string } | null> {
  const place = orThrow(await placeOf(context, path));
  const read = await context.system.access.read(place.root.path, place.path, { maxBytes: MAX_BYTES });
  if (!read.ok && read.code === 'PATH_MISSING') return null;
  const { kind, relative, ...rest } = orThrow(read);
  if (kind === 'text' && 'text' in rest && !rest.cut) return { text: rest.text, relative };
  throw new OpsError('PATH_NOT_TEXT', `${path} is binary, or larger than ${MAX_BYTES} bytes.`, {
    hint: 'Compare text files.',
  });
}
