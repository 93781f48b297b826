import { type Action, stepsOf } from '../../core/action.ts';
import { describePlan } from '../../core/describe-act.ts';
import { asIncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import { checkedOf } from '../../incidents/questions/format-lasting-fix.ts';
import type { OutboundStore } from '../outbound/store.ts';
import type { ApprovalsId, Drawing } from '../outbound/subject.ts';
import { messageUrl } from '../people/identity.ts';
import type { SlackDeps } from '../ports.ts';
import { bold, deadline, link, moment, paragraph, prose, type Span, words } from './blocks/build.ts';
import { endedTitle } from './blocks/plan-steps.ts';
import type { Slot } from './blocks/slot.ts';
import { cut, escape, oneLine } from './blocks/text.ts';

/**
 * In the approvals channel: each plan that waits, with where its card stands, and what became of each that waited. Only what everybody who
 * reads there may know of. It is decided at its card, where one sees what it rests on.
 */
export async function drawApprovals(
  { approvalsChannel, records, workspace }: SlackDeps,
  store: OutboundStore,
  id: ApprovalsId,
): Promise<Drawing | null> {
  const incidentId = asIncidentId(id.slice('approvals:'.length));
  const record = approvalsChannel === null ? null : await records.load(incidentId);
  if (approvalsChannel === null || record === null || record.incident.detailsDeletedAt !== null) return null;
  const { incident, actions } = record;
  const channel = await workspace.channels.idOf(approvalsChannel);
  const [standing, cards] = [await store.posts(id), await store.posts(incidentId)];
  const mayTell = await workspace.access.mayTell(incident, { id: incidentId, channel });
  const slots = await Promise.all(
    actions
      .filter(({ step }) => step === 1)
      .map(async (action): Promise<readonly Slot[]> => {
        const steps = stepsOf(actions, action);
        const stands = standing.get(slotOf(action))?.ts != null;
        const card = cards.get(`action:${action.id}`);
        const url = card?.ts ? messageUrl(workspace.identity(), card.channel, card.ts) : null;
        if (action.state === 'proposed' && !action.auditOnly)
          return stands || (mayTell && url !== null) ? [waitingLine(incident, action, steps, url)] : [];
        const says = endedTitle(steps, checkedOf(record, action));
        return stands ? [decidedLine(incident, action, says, await decidedBy(workspace, action), url)] : [];
      }),
  );
  return { slots: slots.flat(), channel };
}

const slotOf = ({ id }: Action): string => `plan:${id}`;

export function waitingLine(
  { id }: Pick<Incident, 'id'>,
  action: Action,
  steps: readonly Action[],
  url: string | null,
): Slot {
  const act = `${cut(oneLine(describePlan(steps)), 90)} on ${cut(oneLine(action.target), 40)}?`;
  return {
    slot: slotOf(action),
    inThread: false,
    text: escape(`${id} waits for approval: ${act}`),
    blocks: [
      prose(
        paragraph(
          bold('Waits for approval: '),
          ...(url === null ? [words(act)] : [link(url, act)]),
          words(` · ${id} · until `),
          deadline(action.expiresAt, action.proposedAt),
        ),
      ),
    ],
  };
}

/** @param by who decided, in words; '' where nobody did */
export function decidedLine(
  { id }: Pick<Incident, 'id'>,
  action: Action,
  says: string,
  by: string,
  url: string | null,
): Slot {
  const at: readonly Span[] = action.decidedAt && by ? [words(', '), moment(action.decidedAt)] : [];
  return {
    slot: slotOf(action),
    inThread: false,
    text: escape(`${id}: ${says}${by}`),
    blocks: [prose(paragraph(url === null ? words(says) : link(url, says), words(` · ${id}${by}`), ...at))],
  };
}

/** By name: an edit rings nobody, and neither does this. */
async function decidedBy({ directory }: SlackDeps['workspace'], action: Action): Promise<string> {
  const { state, approvedBy, decidedBy: last } = action;
  const all = state !== 'denied' && approvedBy.length > 0 ? approvedBy : last === null ? [] : [last];
  if (all.length === 0) return '';
  const names = all.map(async (who) =>
    isSlackUser(who)
      ? `@${cut(oneLine(await directory.name(who)), 80)}`
      : who === 'policy'
        ? 'the policy'
        : who,
  );
  return ` · ${state === 'denied' ? 'denied' : 'approved'} by ${(await Promise.all(names)).join(', ')}`;
}
