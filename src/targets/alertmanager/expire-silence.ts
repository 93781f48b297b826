import { z } from 'zod';
import { count } from '../../core/count.ts';
import { OpsError } from '../../core/errors.ts';
import type { ToolContext } from '../../tools/define.ts';
import { bootClock, passed } from '../boot-clock.ts';
import { type Alertmanager, AUTHOR, formatMatchers, isInForce, type Silence } from './alertmanager.ts';
import { keyOf } from './create-silence.ts';
import { nothing, outcomeOf } from './outcome.ts';
import { alertmanagerTool, silenceId } from './tool.ts';

interface Input {
  readonly id: string;
}

/** What must not have moved: what it is for, and how long. */
type Guard = { readonly id: string; readonly matchers: string; readonly until: string };

/** Ends one silence before its time. */
export const expireSilence = alertmanagerTool.active<Input, Guard>({
  name: 'alertmanager_expire_silence',
  description:
    'Ends one silence of Alertmanager (or Grafana) before its time: what it kept quiet notifies again.',
  kind: 'active',
  verbs: {
    does: 'End',
    did: 'Ended',
    button: 'End the silence',
    frees: 'Alerts that nobody hears.',
    costs: 'Whatever still fires notifies again.',
  },
  input: z.strictObject({ id: silenceId }),
  timeoutMs: 20_000,
  neverUnasked: true,
  command: ({ id }) => `expire silence ${id}`,
  async preflight(context, { id }) {
    const silence = await inForce(context, id);
    const alerts = await context.system.alerts({}, context);
    const kept = alerts.filter(({ status }) => status.silencedBy?.includes(id)).length;
    return {
      guard: guardOf(silence),
      clock: bootClock(),
      lines: [
        `${formatMatchers(silence)} until ${silence.endsAt}, by ${silence.createdBy}: ${silence.comment}`,
        `it keeps ${count(kept, 'alert')} quiet now`,
      ],
      blastRadius: 'Alertmanager notifies again of what it kept quiet and still fires.',
      undo: 'Silence them again.',
      risk: 'medium',
      losesNothing: true,
      ...(silence.createdBy === AUTHOR
        ? {}
        : { objection: `It is not Sentry’s: ${silence.createdBy} made it` }),
    };
  },
  objects: (_, { matchers }) => [
    { kind: 'alerts', key: keyOf(matchers), label: `the silence of ${matchers}` },
  ],
  async run(context, { id }, guard, deadline) {
    const silence = await inForce(context, id);
    if (formatMatchers(silence) !== guard.matchers || silence.endsAt !== guard.until)
      return nothing('the silence was changed meanwhile.');
    if (passed(bootClock(), deadline)) return nothing('the deadline had passed.');
    try {
      await context.system.expire(id, context);
    } catch (error) {
      return outcomeOf(error);
    }
    return { kind: 'succeeded', text: 'The silence is ended.', data: { id } };
  },
  async look(context, { id }) {
    const silence = await context.system.silence(id, context);
    return silence && isInForce(silence) ? 'not_done' : 'done';
  },
  effect: ({ id }) => ({
    steps: [
      {
        tool: 'alertmanager_silences',
        input: { id },
        holds: 'result.total == 0',
        says: 'The silence is not in force any more',
      },
    ],
    holdMs: 1_000,
    timeoutMs: 30_000,
  }),
});

const guardOf = (silence: Silence): Guard => ({
  id: silence.id,
  matchers: formatMatchers(silence),
  until: silence.endsAt,
});

async function inForce(context: ToolContext<Alertmanager>, id: string): Promise<Silence> {
  const silence = await context.system.silence(id, context);
  if (silence && isInForce(silence)) return silence;
  const when = silence ? ` at ${silence.endsAt}` : '';
  throw new OpsError('GONE', `That silence has ended already${when}, or somebody ended it at Alertmanager.`, {
    hint: 'Nothing is left to end.',
  });
}
