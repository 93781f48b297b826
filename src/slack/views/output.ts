import type { types } from '@slack/bolt';
import type { ToolCall } from '../../core/tool-call.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  code,
  moment,
  paragraph,
  prose,
  small,
  verbatim,
  words,
} from './blocks/build.ts';
import { ACTIONS } from './blocks/slot.ts';
import { BOX, cut, pages } from './blocks/text.ts';
import { modal } from './modal.ts';

const PAGE = 3 * BOX;

/** A tool call's stored output, page by page (from 0), and what makes it evidence: who, when, and its hash. */
export function outputView(call: ToolCall, page: number): types.ModalView {
  const all = pages(call.output || '(no output)', PAGE);
  const at = Math.min(Math.max(0, page), all.length - 1);
  const head = prose(
    paragraph(
      code(cut(call.tool, 80)),
      words(call.target ? ' on ' : ''),
      ...(call.target ? [code(cut(call.target, 80))] : []),
      words(' · '),
      moment(call.startedAt, '{date_short_pretty} {time_secs}'),
    ),
    ...(call.state === 'ok'
      ? []
      : [paragraph(bold(call.state), words(call.code ? ` (${cut(call.code, 80)})` : ''))]),
  );
  const notes = [
    `${call.id} · SHA-256 ${call.outputSha256.slice(0, 16)}…`,
    ...(call.truncated ? ['the output was longer than is kept'] : []),
    ...(all.length > 1 ? [`page ${at + 1} of ${all.length}`] : []),
  ];
  return modal('Output', [
    head,
    ...pages(all[at] ?? '', BOX).map((text) => prose(verbatim(text))),
    small(notes.join(' · ')),
    ...turns(call, at, all.length),
  ]);
}

function turns(call: ToolCall, at: number, count: number): readonly Block[] {
  const to = (page: number, text: string) =>
    button({
      text,
      action: `${ACTIONS.outputPage}_${page > at ? 'next' : 'back'}`,
      value: `${call.id}:${page}`,
    });
  const both = [...(at > 0 ? [to(at - 1, '← Back')] : []), ...(at + 1 < count ? [to(at + 1, 'Next →')] : [])];
  return both.length > 0 ? [buttons(...both)] : [];
}
