import { count } from '../../../core/count.ts';
import type { IncidentId } from '../../../core/ids.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import type { Promotion } from '../../../memory/promotion/ports.ts';
import type { Review } from '../../../memory/promotion/promotions.ts';
import { systemLine } from '../../../memory/systems/system-facts.ts';
import {
  AT,
  type Block,
  bold,
  button,
  buttons,
  code,
  heading,
  link,
  moment,
  paragraph,
  person,
  prose,
  type Span,
  small,
  verbatim,
  words,
} from './build.ts';
import { countChanges, type DiffLine, diffLines } from './diff.ts';
import type { Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

const SHOWN = 2_400;
const SHOWN_LINES = 40;

/** What the buttons of promotion and of memory documents are called in `action_id`. */
export const MEMORY_ACTIONS = {
  approve: 'sentry_promotion_approve',
  edit: 'sentry_promotion_edit',
  reject: 'sentry_promotion_reject',
  show: 'sentry_promotion_show',
  sources: 'sentry_promotion_sources',
  rehearse: 'sentry_promotion_rehearse',
  propose: 'sentry_memory_propose',
  document: 'sentry_memory_document',
  documentEdit: 'sentry_memory_document_edit',
  rollBack: 'sentry_memory_roll_back',
  retire: 'sentry_memory_retire',
} as const;

export interface PromotionCardOptions {
  readonly threadUrl: (id: IncidentId) => string | null;
  /** Who may decide, in words; null: nobody is configured. */
  readonly admins: string | null;
}

/** What a click says: the proposal, the text that was read, and what it would replace. Who clicked comes from Slack. */
export const seenOf = ({ jobId, sha256, current }: Promotion): string =>
  `${jobId}:${sha256}:${current?.sha256 ?? 'none'}`;

/** The card of one proposal in the admin channel: what is approved is what it shows. After the decision: who, when, why. */
export function drawPromotionCard(review: Review, options: PromotionCardOptions): Slot {
  const { promotion } = review;
  const title = titleOf(promotion);
  return {
    slot: 'card',
    inThread: false,
    text: escape(oneLine(`${title}: ${cut(promotion.title, 200)} (${promotion.target.path})`)),
    blocks: [
      heading(title),
      prose(
        paragraph(bold(cut(oneLine(promotion.title), 200))),
        paragraph(
          code(`${promotion.target.store}/${promotion.target.path}`),
          words(` · ${kindOf(promotion)} for ${promotion.domain}`),
        ),
        paragraph(...origin(promotion, options)),
        paragraph(bold('Why: '), words(cut(oneLine(promotion.rationale), 800))),
        ...learntOn(promotion.system),
      ),
      ...says(promotion),
      prose(paragraph(bold('Checked:')), ...checks(review).map((spans) => paragraph(...spans))),
      ...standing(review, options),
    ],
  };
}

/** In place of the card of a proposal whose text was forgotten. */
export function drawForgottenCard(): Slot {
  const said = 'This proposal was forgotten, and its text with it.';
  return { slot: 'card', inThread: false, text: said, blocks: [prose(paragraph(words(said)))] };
}

function titleOf({ state, current }: Promotion): string {
  if (state === 'approved') return 'Approved: now part of everybody’s memory';
  if (state === 'rejected') return 'Rejected: the draft stays a draft';
  return current ? 'Change what everybody’s memory says?' : 'Make this part of everybody’s memory?';
}

export const kindOf = ({ docType }: { readonly docType: string }): string => docType.replaceAll('_', ' ');

function origin(
  { proposedBy, proposedAt, incidentId }: Promotion,
  options: PromotionCardOptions,
): readonly Span[] {
  const url = incidentId && options.threadUrl(incidentId);
  return [
    words('Proposed by '),
    isSlackUser(proposedBy) ? person(proposedBy) : words(`the ${proposedBy}`),
    ...(incidentId ? [words(' in '), url ? link(url, incidentId) : words(incidentId)] : []),
    words(' at '),
    moment(proposedAt, AT),
  ];
}

/** What the target ran when it was written: on another system it may not hold. */
const learntOn = (system: Promotion['system']) =>
  system ? [paragraph(bold('Learnt on: '), words(cut(oneLine(systemLine(system, true)), 300)))] : [];

/** The whole text where nothing stands yet, else what changes. A decided one needs no more than its name. */
function says({ state, content, current }: Promotion): readonly Block[] {
  if (state !== 'pending') return [];
  if (!current) return [prose(paragraph(bold('What it says:')), verbatim(shown(content))), ...more(content)];
  const lines = diffLines(current.content, content);
  const { added, removed } = countChanges(lines);
  if (lines.length === 0)
    return [
      prose(paragraph(words('It says what the workspace document says already; only its trust changes.'))),
    ];
  const text = lines.map(diffLine).join('\n');
  return [
    prose(
      paragraph(
        bold('What changes: '),
        words(`${count(added, 'line')} added, ${count(removed, 'line')} removed`),
      ),
      verbatim(shown(text)),
    ),
    ...more(text),
  ];
}

export const diffLine = ({ mark, text }: DiffLine): string => (mark === '…' ? '  …' : `${mark} ${text}`);

function shown(text: string): string {
  const lines = text.split('\n');
  return cut(lines.slice(0, SHOWN_LINES).join('\n'), SHOWN);
}

const more = (text: string): readonly Block[] =>
  shown(text).length < text.length
    ? [small('It is longer than fits here. Read all of it with “Show all” before you decide.')]
    : [];

/** What the machine has looked at; a person still has to. */
function checks({ promotion, findings, suspicious, runbook, dryRun }: Review): readonly (readonly Span[])[] {
  const lines: (readonly Span[])[] = [
    findings.length === 0
      ? [words('✓ Safety scanner: nothing found')]
      : [words(`✗ Safety scanner: ${findings.join(', ')}`)],
  ];
  if (suspicious) lines.push([words('⚠ Parts of it read like orders to a model: look at them first')]);
  if (runbook.kind === 'prose')
    lines.push([words('• No steps: it is read by people and by the model, not followed')]);
  if (runbook.kind === 'wrong') lines.push([words(`✗ ${cut(oneLine(runbook.reason), 500)}`)]);
  if (runbook.kind === 'steps') {
    const steps = `${count(runbook.steps, 'step')} for the playbook, as `;
    lines.push([words(`✓ ${steps}`), code(runbook.id)]);
    lines.push([words(trial(dryRun))]);
    // Once decided, that they ran is enough.
    const trials = promotion.state === 'pending' ? (dryRun?.lines ?? []) : [];
    for (const line of trials.slice(0, 8)) lines.push([words(`   ${cut(oneLine(line), 200)}`)]);
  }
  return lines;
}

function trial(dryRun: Review['dryRun']): string {
  if (!dryRun) return '… Its steps are being tried, with reading tools only';
  const where = dryRun.target ? ` on ${dryRun.target}` : '';
  return dryRun.passed ? `✓ Tried${where}, with reading tools only` : `✗ Tried${where}: it does not run`;
}

function standing(review: Review, options: PromotionCardOptions): readonly Block[] {
  const { promotion } = review;
  const value = seenOf(promotion);
  const show = [
    button({ text: 'Show all', action: MEMORY_ACTIONS.show, value: promotion.jobId }),
    button({ text: 'Where it came from', action: MEMORY_ACTIONS.sources, value: promotion.jobId }),
  ];
  if (promotion.state !== 'pending')
    return [
      prose(paragraph(...decision(promotion)), ...why(promotion)),
      buttons(...show, ...result(promotion)),
    ];
  const failed = review.runbook.kind === 'steps' && review.dryRun?.passed === false;
  return [
    prose(
      paragraph(
        words(
          options.admins
            ? `${cut(options.admins, 300)} may decide. ${review.mayApprove ? '' : 'It cannot be approved as it is. '}`
            : 'Nobody is configured who may decide this: /sentry settings. ',
        ),
      ),
    ),
    buttons(
      ...(review.mayApprove
        ? [button({ text: 'Approve', action: MEMORY_ACTIONS.approve, value, style: 'primary' as const })]
        : []),
      button({ text: 'Approve with edits', action: MEMORY_ACTIONS.edit, value }),
      button({ text: 'Reject', action: MEMORY_ACTIONS.reject, value }),
      ...(failed
        ? [button({ text: 'Try again', action: MEMORY_ACTIONS.rehearse, value: promotion.jobId })]
        : []),
      ...show,
    ),
  ];
}

function decision({ state, decidedBy, decidedAt, edited }: Promotion): readonly Span[] {
  return [
    bold(state === 'rejected' ? 'Rejected by ' : edited ? 'Approved with edits by ' : 'Approved by '),
    person(decidedBy ?? ''),
    ...(decidedAt ? [words(' at '), moment(decidedAt, AT)] : []),
  ];
}

const why = ({ reason }: Promotion) =>
  reason ? [paragraph(bold('Because: '), words(cut(oneLine(reason), 800)))] : [];

const result = ({ result: made }: Promotion) =>
  made ? [button({ text: 'Open it', action: MEMORY_ACTIONS.document, value: made.documentId })] : [];
