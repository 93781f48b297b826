import { isSlackUser } from '../../core/is-slack-user.ts';
import { formatMuteEnd, type Mute } from '../../incidents/mutes/mute.ts';
import { minute } from '../../safety/kill-switch/kill-switch.ts';
import type { Drawing, MuteId } from '../outbound/subject.ts';
import type { SlackDeps } from '../ports.ts';
import { bold, code, deadline, paragraph, prose, words } from './blocks/build.ts';
import type { Slot } from './blocks/slot.ts';
import { cut, escape, oneLine } from './blocks/text.ts';

/** In the first alert channel: that alerts wait, and later what came of it. Nobody is mentioned. */
export async function drawMute({ mutes, workspace }: SlackDeps, id: MuteId): Promise<Drawing | null> {
  const mute = await mutes.read(id.slice('mute:'.length));
  if (!mute) return null;
  const name = async (by: string): Promise<string> =>
    isSlackUser(by) ? `@${await workspace.directory.name(by)}` : by;
  const begun = begunSlot(mute, await name(mute.by));
  return {
    slots:
      mute.closedAt === null ? [begun] : [begun, endedSlot(mute, mute.endedBy && (await name(mute.endedBy)))],
    channel: await workspace.homeOf(undefined),
  };
}

export function begunSlot({ id, matcher, reason, begunAt, until }: Mute, by: string): Slot {
  const what = cut(oneLine(matcher), 300);
  const because = reason ? `: ${cut(oneLine(reason), 300)}` : '';
  return {
    slot: 'begun',
    inThread: false,
    text: escape(`Muted by ${cut(oneLine(by), 80)} until ${minute(until)}: ${what}${because}`),
    blocks: [
      prose(
        paragraph(
          bold('Muted'),
          words(` by ${cut(oneLine(by), 80)} until `),
          deadline(until, begunAt),
          words(': '),
          code(what),
          words(`${because}. Alerts are kept. To end it: /sentry unmute ${id}`),
        ),
      ),
    ],
  };
}

export function endedSlot(mute: Mute, endedBy: string | null): Slot {
  const what = cut(oneLine(mute.matcher), 300);
  const who = endedBy === null ? '' : ` by ${cut(oneLine(endedBy), 80)}`;
  const says = formatMuteEnd(mute);
  return {
    slot: 'ended',
    inThread: false,
    text: escape(`No longer muted${who}: ${what}. ${says}`),
    blocks: [prose(paragraph(bold('No longer muted'), words(`${who}: `), code(what), words(`. ${says}`)))],
  };
}
