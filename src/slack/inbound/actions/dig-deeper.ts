import type { App, ViewSubmitAction } from '@slack/bolt';
import { asIncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import { codeOf } from '../../outbound/web-errors.ts';
import { DIG_VIEW, type DigContext, digView } from '../../views/dig-deeper.ts';
import type { Pressed } from './pressed.ts';
import { mayTouch } from './show.ts';

/** Opens the window with the estimate. */
export async function askToDig(context: SlackContext, pressed: Pressed): Promise<void> {
  const { digDeeper } = context.deps;
  const { channel, threadTs } = pressed.audience;
  const id = asIncidentId(pressed.value);
  const may = await mayTouch(context, pressed, id);
  const estimate = may.ok ? await digDeeper?.estimate(id) : may;
  if (!estimate?.ok)
    return context.tell(pressed.audience, { text: estimate?.reason ?? 'No model is configured.' });
  const view = digView({ incidentId: pressed.value, channel: channel ?? '', threadTs }, estimate);
  await context.client.views.open({ trigger_id: pressed.triggerId, view }).catch((error: unknown) => {
    const code = codeOf(error);
    if (code !== 'expired_trigger_id' && code !== 'invalid_trigger_id') throw error;
    return context.tell(pressed.audience, { text: 'That took too long. Please press “Dig deeper” again.' });
  });
}

export function registerDigDeeper(app: App, context: SlackContext): void {
  app.view<ViewSubmitAction>(DIG_VIEW, async ({ ack, body, view }) => {
    await ack();
    const where = JSON.parse(view.private_metadata) as DigContext;
    const audience = { userId: body.user.id, channel: where.channel || null, threadTs: where.threadTs };
    const id = asIncidentId(where.incidentId);
    const by = { userId: body.user.id, teamId: body.user.team_id ?? null, audience };
    const may = await mayTouch(context, by, id);
    const dug = may.ok ? await context.deps.digDeeper?.dig(id, body.user.id) : may;
    if (!dug?.ok) await context.tell(audience, { text: dug?.reason ?? 'No model is configured.' });
  });
}
