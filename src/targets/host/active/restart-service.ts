import { z } from 'zod';
import { refuse } from '../../../core/errors.ts';
import { age } from '../../format.ts';
import { serviceName } from '../read/service-status.ts';
import type { ServiceGuard, ServiceState } from '../system.ts';
import { hostTool } from '../tool.ts';

/** The seed's: once a service in ten minutes. */
const WITHIN_MS = 10 * 60_000;

export const restartServiceTool = hostTool.active<{ service: string }, ServiceGuard>({
  name: 'restart_service',
  description:
    'Restarts one declared service of the host (systemd, or the command declared for it). At most once a service in ten minutes. For a service that is down, stuck or has to read a changed configuration; look at service_status first.',
  kind: 'active',
  input: z.strictObject({ service: serviceName }),
  timeoutMs: 60_000,
  limit: ({ service }, { machine, declared }, objects) => ({
    // By what it is: two names or targets for one unit, or one pid file, of this machine are one service.
    key: `restart ${objects[0]?.key ?? `${declared} on ${machine}`}`,
    what: `restart of ${service}`,
    times: 1,
    withinMs: WITHIN_MS,
  }),
  verbs: {
    does: 'Restart',
    did: 'Restarted',
    button: 'Restart the service',
    frees: 'What hangs in it; it begins anew.',
    costs: 'It is away for a moment; what it held in memory is gone.',
  },
  command: ({ service }) => `restart service ${service}`,
  rules(context, { service }) {
    const { services } = context.system;
    return services.includes(service)
      ? undefined
      : refuse(
          'HOST_NO_SERVICE',
          `"${service}" is not declared. Declared: ${services.join(', ') || 'none'}.`,
        );
  },
  async preflight(context, { service }) {
    const host = context.system;
    const state = await host.service(service, context);
    return {
      guard: guardOf(state, await host.machine.identity()),
      clock: await host.machine.clock(),
      lines: [
        `${service}: ${state.state}${state.mainPid === null ? '' : `, pid ${state.mainPid}`}${state.ageSeconds === null ? '' : ` since ${age(state.ageSeconds)}`} (${state.says})`,
        `A restart runs: ${state.declared}`,
      ],
      blastRadius:
        state.state === 'running'
          ? 'The service is away while it restarts; what it was doing is cut off.'
          : 'The service does not run steadily now; a restart cuts nothing off that works.',
      losesNothing: state.mainPid === null,
      undo:
        state.mainPid === null
          ? `Stop ${service} again: it is not running now, so nothing is lost.`
          : 'Cannot be undone: what the old process held in memory is gone.',
      risk: state.state === 'running' ? 'medium' : 'low',
      about: { keys: state.keys },
    };
  },
  objects({ service }, { declared }, { about }) {
    const { keys = [declared] } = (about ?? {}) as { readonly keys?: readonly string[] };
    return keys.map((key) => ({ kind: 'service', key, label: `service ${service}` }));
  },
  async run(context, { service }, guard, deadline) {
    const host = context.system;
    // It was approved as a restart that cuts nothing off. Of a process that was there the restart itself looks.
    if (guard.steady === null && (await host.service(service, context)).state === 'running')
      return { kind: 'failed', text: `Nothing was done: ${service} runs by now.` };
    return host.restart(guard, deadline, context);
  },
  async look(context, { service }, guard) {
    const now = await context.system.service(service, context);
    const { steady } = guard;
    if (steady && now.mainPid === steady.main_pid && now.startedAt === steady.started_at)
      // One that is being ended is the same process still.
      return now.state === 'running' ? 'not_done' : 'cannot_tell';
    // Another main process than before, or one where none stayed: what a restart does. Who did it cannot be told.
    return now.mainPid !== null && (steady !== null || now.state === 'running') ? 'done' : 'cannot_tell';
  },
  subject: ({ service }) => ({ kind: 'name', name: service }),
  shownBy: ({ service }) => ({ tool: 'service_status', input: { service }, measures: ['running'] }),
  repairsOnly: true,
  effect: ({ service }) => ({
    steps: [
      {
        tool: 'service_status',
        input: { service },
        holds: 'result.running',
        says: `${service} keeps running, as one process`,
      },
    ],
    holdMs: 5_000,
    timeoutMs: 60_000,
  }),
});

/** What must not move: the process that would be ended; or that there is none that stays. */
function guardOf({ name, declared, state, mainPid, startedAt }: ServiceState, machine: string): ServiceGuard {
  const steady =
    state === 'running' && mainPid !== null && startedAt !== null
      ? { main_pid: mainPid, started_at: startedAt }
      : null;
  return { machine, service: name, declared, steady };
}
