import type { types } from '@slack/bolt';
import type { Grant } from '../../incidents/failed-reads/retry-read.ts';
import { type Block, bold, paragraph, prose, verbatim, words } from './blocks/build.ts';
import { cut, oneLine } from './blocks/text.ts';
import { form } from './form.ts';

export const GRANT_VIEW = 'sentry_grant';

export interface GrantContext {
  /** The button's. */
  readonly value: string;
  readonly channel: string;
  readonly threadTs: string | null;
}

/** What has to be granted, by whom and how; *Check again* reads once more. */
export function grantView(context: GrantContext, grant: Grant): types.ModalView {
  return form({
    callback: GRANT_VIEW,
    title: 'Grant it',
    submit: 'Check again',
    metadata: context,
    blocks: grantBlocks(grant),
  });
}

/** The same for a message, where no window opens. */
export function grantBlocks({ tool, target, reason, who, what, exact, note }: Grant): readonly Block[] {
  return [
    prose(
      paragraph(bold(`${tool} on ${target}: `), words(cut(oneLine(reason), 300))),
      paragraph(bold('Who may: '), words(who)),
      paragraph(words(what)),
      ...(exact === null ? [] : [verbatim(cut(exact, 1_500))]),
      ...(note === null ? [] : [paragraph(words(note))]),
      paragraph(
        words(
          'Sentry grants itself nothing. When it is done, check again: exactly this read is made once more.',
        ),
      ),
    ),
  ];
}
