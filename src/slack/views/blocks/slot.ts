import type { Action } from '../../../core/action.ts';
import type { Denial } from '../../../core/denial.ts';
import type { IncidentId } from '../../../core/ids.ts';
import type { Incident } from '../../../core/incident.ts';
import type { ReadsRecorded } from '../../../incidents/recovery/recovery-series.ts';
import type { Block } from './build.ts';

/** One message that should stand in Slack for an incident; `slot` names it for good (`root`, `live:1`, `action:act_…`). */
export interface Slot {
  readonly slot: string;
  /** False only for the root. */
  readonly inThread: boolean;
  /** For notifications, screen readers and clients without blocks: says the same in one breath. Escaped. */
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The same for a Slack that does not know the newer blocks: sent when it refuses `blocks`. */
  readonly simpler?: readonly Block[];
  /** A coloured strip below the blocks, with one line of ours. */
  readonly strip?: { readonly color: string; readonly text: string };
  /** Redrawn many times a second while somebody speaks: sent at most about once a second, after everything else. */
  readonly live?: boolean;
}

/** What drawing needs beyond the record; nothing here may change between two drawings of an unchanged record. */
export interface DrawOptions {
  /** Where another incident's thread is; null when it has none. */
  readonly threadUrl: (id: IncidentId) => string | null;
  /** Who may approve, in words; null: nobody is configured. */
  readonly approvers: string | null;
  /** Groups and people, by id, whom a card mentions while it waits for a decision. */
  readonly ring?: readonly string[];
  /** Whom the line mentions by which something critical begins to wait, by its event. */
  readonly ringAt?: (seq: number) => readonly string[];
  /** The id of a group on call by its handle; null: Slack does not tell. */
  readonly groupOf?: (handle: string) => string | null;
  /** The pagers that are paged next after a level; *Page now* is offered where there are some. */
  readonly pagersAfter?: (level: number) => readonly string[];
  /** There is a model that a person can have look again. */
  readonly mayDig?: boolean;
  /** What could not be read can be read again by a button. */
  readonly mayReadAgain?: boolean;
  /** Whether this one can be taken back by a click, once it ran; no button without it. */
  readonly mayUndo?: (action: Action) => boolean;
  /** Whether people may change an argument of an open plan, which asks for it anew. */
  readonly mayEdit?: (steps: readonly Action[]) => boolean;
  /** People may go back on what was denied. */
  readonly mayChangeMind?: boolean;
  /** Whether those who read this thread may read what was said where that No was said; nobody may without it. */
  readonly mayTell?: (denial: Denial) => boolean;
  /** What somebody is called, where only plain text stands; null: not known. */
  readonly nameOf?: (userId: string) => string | null;
  /** Whether another incident may be named here; none is without it. */
  readonly mayName?: (id: IncidentId) => boolean;
  /** An incident that this one leads, or that leads it, as it is now; null: it may not be named here. */
  readonly mergedOf?: (id: IncidentId) => Incident | null;
  /** What a read on record says of a step of a repair's criterion; null: nothing. Without it nothing is told in numbers. */
  readonly measured?: ReadsRecorded;
  /** When somebody is called for what needs a person: at once, the call itself says why. */
  readonly calls?: 'at_once' | 'later' | 'never';
  /** Approvers may say whether an action of unknown outcome ran. */
  readonly maySettle?: boolean;
}

/** What buttons are called in `action_id`. */
export const ACTIONS = {
  approve: 'sentry_approve',
  deny: 'sentry_deny',
  undo: 'sentry_undo',
  afterAll: 'sentry_after_all',
  takeBack: 'sentry_take_back',
  rest: 'sentry_rest',
  ran: 'sentry_ran',
  didNotRun: 'sentry_did_not_run',
  evidence: 'sentry_evidence',
  output: 'sentry_output',
  outputPage: 'sentry_output_page',
  steps: 'sentry_steps',
  diagnosis: 'sentry_diagnosis',
  why: 'sentry_why',
  dig: 'sentry_dig',
  investigate: 'sentry_investigate',
  readAgain: 'sentry_read_again',
  grant: 'sentry_grant',
  split: 'sentry_split',
  putBack: 'sentry_put_back',
  take: 'sentry_take',
  page: 'sentry_page',
  stop: 'sentry_stop',
  resume: 'sentry_resume',
  more: 'sentry_more',
  cardMore: 'sentry_card_more',
  link: 'sentry_link',
  share: 'sentry_share',
  report: 'sentry_report',
  draftRunbook: 'sentry_draft_runbook',
} as const;
