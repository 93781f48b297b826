import type { App, ViewSubmitAction } from '@slack/bolt';
import { parseIncidentId } from '../../../core/ids.ts';
import type { NamedRead } from '../../../incidents/failed-reads/retry-read.ts';
import type { SlackContext } from '../../context.ts';
import type { Audience } from '../../outbound/tell.ts';
import { codeOf } from '../../outbound/web-errors.ts';
import { button, buttons } from '../../views/blocks/build.ts';
import { ACTIONS } from '../../views/blocks/slot.ts';
import { GRANT_VIEW, type GrantContext, grantBlocks, grantView } from '../../views/grant.ts';
import type { Pressed } from './pressed.ts';
import { mayTouch } from './show.ts';

const GONE = 'This button is not one of mine any more. Nothing was read.';

/** `INC-7:tc_…:<hash>`, as the buttons carry it; null for anything else. What it names is held against the record later. */
export function readNamedRead(value: string): NamedRead | null {
  const [, id = '', toolCallId = '', hash = ''] =
    /^(INC-[0-9]{1,18}):(tc_[a-z0-9]{6,40}):([0-9a-f]{64})$/.exec(value) ?? [];
  const incidentId = parseIncidentId(id);
  return incidentId && toolCallId && hash ? { incidentId, toolCallId, hash } : null;
}

/** *Run it* and *Check again*: asks for exactly the read that stands on the card. */
export const readItAgain = (context: SlackContext, pressed: Pressed): Promise<void> =>
  ask(context, pressed.value, pressed.audience, pressed.teamId);

/** *Grant it*: what somebody has to grant first. Where no window opens, the same as a message with its button. */
export async function showGrant(context: SlackContext, pressed: Pressed): Promise<void> {
  const { value, audience } = pressed;
  const read = readNamedRead(value);
  if (!read) return context.tell(audience, { text: GONE });
  const may = await mayTouch(context, pressed, read.incidentId);
  const grant = may.ok ? await context.deps.retryRead.grant(read, pressed.userId) : may;
  if (!grant.ok) return context.tell(audience, { text: grant.reason });
  const where = { value, channel: audience.channel ?? '', threadTs: audience.threadTs };
  try {
    const { views } = context.client;
    const open = pressed.viewId ? views.push : views.open;
    await open.call(views, { trigger_id: pressed.triggerId, view: grantView(where, grant) });
  } catch (error) {
    context.deps.log.warn({ code: codeOf(error) }, 'no window for what to grant; answering in the thread');
    const again = button({ text: 'Check again', action: ACTIONS.readAgain, value });
    await context.tell(audience, {
      text: `${grant.what} ${grant.exact ?? ''}`.trim(),
      blocks: [...grantBlocks(grant), buttons(again)],
    });
  }
}

export function registerReadAgain(app: App, context: SlackContext): void {
  app.view<ViewSubmitAction>(GRANT_VIEW, async ({ ack, body, view }) => {
    await ack();
    const where = JSON.parse(view.private_metadata) as GrantContext;
    const audience = { userId: body.user.id, channel: where.channel || null, threadTs: where.threadTs };
    await ask(context, where.value, audience, body.user.team_id ?? null);
  });
}

/** Only a *no* is said to whoever pressed: the card itself shows that it is being read, and by whose wish. */
async function ask(
  context: SlackContext,
  value: string,
  audience: Audience,
  teamId: string | null,
): Promise<void> {
  const read = readNamedRead(value);
  if (!read) return context.tell(audience, { text: GONE });
  const may = await mayTouch(context, { userId: audience.userId, teamId, audience }, read.incidentId);
  const asked = may.ok ? await context.deps.retryRead.ask(read, audience.userId) : may;
  if (!asked.ok) await context.tell(audience, { text: asked.reason });
  context.outbound.pressed(read.incidentId);
}
