import type { types } from '@slack/bolt';
import { isSlackUser } from '../../core/is-slack-user.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { meansToBeRunbook } from '../../memory/promotion/check-runbook.ts';
import type { Promotion } from '../../memory/promotion/ports.ts';
import {
  type Block,
  bold,
  button,
  code,
  lineWith,
  link,
  paragraph,
  person,
  prose,
  small,
  verbatim,
  words,
} from './blocks/build.ts';
import { diffLines } from './blocks/diff.ts';
import { diffLine, kindOf, seenOf } from './blocks/promotion-card.ts';
import { ACTIONS } from './blocks/slot.ts';
import { BOX, cut, oneLine, pages } from './blocks/text.ts';
import { form, longField, textField } from './form.ts';
import { modal } from './modal.ts';

export const PROMOTION_REJECT_VIEW = 'sentry_promotion_reject';
export const PROMOTION_EDIT_VIEW = 'sentry_promotion_edit';
export const CONTENT = 'content';
export const REASON = 'reason';

const MAX_BOXES = 24;

/** What comes back with an answer: what was seen, and where to say what came of it. */
export interface ReviewContext {
  readonly seen: string;
  readonly channel: string;
  readonly threadTs: string | null;
  readonly glue?: string;
}

export const rejectView = (context: ReviewContext, { title }: Promotion): types.ModalView =>
  form({
    callback: PROMOTION_REJECT_VIEW,
    title: 'Reject',
    submit: 'Reject',
    metadata: context,
    blocks: [
      prose(paragraph(bold(cut(oneLine(title), 200))), paragraph(words('The draft stays where it is.'))),
      textField({ id: REASON, label: 'Why not?', hint: 'Whoever proposed it reads this.', max: 1_000 }),
    ],
  });

/** `problem`: why the text was not taken, above the text as the admin left it. */
export function editPromotionView(
  context: Omit<ReviewContext, 'seen'>,
  promotion: Promotion,
  text: string = promotion.content,
  problem: string | null = null,
): types.ModalView {
  const field = longField(CONTENT, 'Text (Markdown)', text);
  if (!field)
    return modal('Too long', [
      prose(
        paragraph(
          words('The text is too long for a window: edit it with the command line or the admin API.'),
        ),
      ),
    ]);
  return form({
    callback: PROMOTION_EDIT_VIEW,
    title: 'Approve with edits',
    submit: 'Approve',
    metadata: { ...context, seen: seenOf(promotion), glue: field.glue } satisfies ReviewContext,
    blocks: [
      ...(problem ? [prose(paragraph(bold('Not taken: '), words(cut(oneLine(problem), 1_500))))] : []),
      prose(
        paragraph(
          bold(cut(oneLine(promotion.title), 200)),
          words(' will stand at '),
          code(`${promotion.target.store}/${promotion.target.path}`),
          words('.'),
        ),
      ),
      ...field.blocks,
    ],
  });
}

/** The whole text, and the whole difference where something stands there already. */
export function promotionView(promotion: Promotion): types.ModalView {
  const { content, current, title, target, sha256, version } = promotion;
  const changes = current ? diffLines(current.content, content).map(diffLine).join('\n') : '';
  return modal('Proposal', [
    prose(
      paragraph(bold(cut(oneLine(title), 200))),
      paragraph(
        code(`${target.store}/${target.path}`),
        words(` · ${kindOf(promotion)} for ${promotion.domain}`),
      ),
    ),
    ...(changes
      ? [
          prose(paragraph(bold('What changes'))),
          ...pages(changes, BOX)
            .slice(0, MAX_BOXES)
            .map((part) => prose(verbatim(part))),
        ]
      : []),
    prose(paragraph(bold('What it says'))),
    ...boxes(content),
    small(`${promotion.jobId} · version ${version} of the draft · SHA-256 ${sha256.slice(0, 16)}…`),
  ]);
}

/** Incidents and tool calls behind a proposal, each a press away. */
export function sourcesView(
  promotion: Promotion,
  incident: { readonly name: string; readonly url: string | null } | null,
  calls: readonly ToolCall[],
): types.ModalView {
  return modal('Where it came from', [
    prose(
      paragraph(
        bold('Proposed by '),
        isSlackUser(promotion.proposedBy) ? person(promotion.proposedBy) : words(promotion.proposedBy),
        words(`: ${cut(oneLine(promotion.rationale), 1_000)}`),
      ),
      ...(incident
        ? [
            paragraph(
              bold('Incident: '),
              incident.url ? link(incident.url, incident.name) : words(incident.name),
            ),
          ]
        : []),
      paragraph(
        words(
          calls.length > 0 ? 'What it rests on:' : 'It names no tool call: nobody has shown evidence for it.',
        ),
      ),
    ),
    ...calls.map((call) =>
      lineWith(
        `${call.tool}${call.target ? ` on ${call.target}` : ''} · ${call.state}`,
        button({ text: 'Show output', action: ACTIONS.output, value: call.id }),
      ),
    ),
  ]);
}

export const noticeView = (title: string, text: string): types.ModalView =>
  modal(title, [prose(paragraph(words(text)))]);

/** The whole of a text: a runbook letter for letter, prose so that a phone breaks its lines. */
export const boxes = (text: string): readonly Block[] =>
  pages(text, BOX)
    .slice(0, MAX_BOXES)
    .map((part) => prose(meansToBeRunbook(text) ? verbatim(part) : paragraph(words(part))));
