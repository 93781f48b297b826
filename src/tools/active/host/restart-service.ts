import { z } from 'zod';
import { refuse } from '../../../domain/errors.ts';
import { defineActiveTool } from '../../define.ts';
import type { ServiceGuard, ServiceState } from '../../ports.ts';
import { hostOf } from '../../read/host/host-path.ts';
import { serviceName } from '../../read/host/service-status.ts';
import { age } from '../../read/postgres/format.ts';

/** The seed's: once a service in ten minutes. */
const WITHIN_MS = 10 * 60_000;

export const restartServiceTool = defineActiveTool<{ service: string }, ServiceGuard>({
  name: 'restart_service',
  description:
    'Restarts one declared service of the host (systemd, or the command declared for it). At most once a service in ten minutes. For a service that is down, stuck or has to read a changed configuration; look at service_status first.',
  kind: 'active',
  domain: 'any',
  targetKind: 'host',
  input: z.strictObject({ service: serviceName }),
  timeoutMs: 60_000,
  limit: ({ service }, { machine, declared }) => ({
    // By what is run: two names or targets for one unit of this machine are one service.
    key: `restart ${declared} on ${machine}`,
    what: `restart of ${service}`,
    times: 1,
    withinMs: WITHIN_MS,
  }),
  command: ({ service }) => `restart service ${service}`,
  rules(context, { service }) {
    const { services } = hostOf(context);
    return services.includes(service)
      ? undefined
      : refuse(
          'HOST_NO_SERVICE',
          `"${service}" is not declared. Declared: ${services.join(', ') || 'none'}.`,
        );
  },
  async preflight(context, { service }) {
    const host = hostOf(context);
    const state = await host.service(service, context);
    return {
      guard: guardOf(state, host.machine),
      clock: host.clock(),
      lines: [
        `${service}: ${state.state}${state.mainPid === null ? '' : `, pid ${state.mainPid}`}${state.ageSeconds === null ? '' : ` since ${age(state.ageSeconds)}`} (${state.says})`,
        `A restart runs: ${state.declared}`,
      ],
      blastRadius:
        state.state === 'running'
          ? 'The service is away while it restarts; what it was doing is cut off.'
          : 'The service does not run steadily now; a restart cuts nothing off that works.',
      undo: 'Cannot be undone: what the old process held in memory is gone.',
      risk: state.state === 'running' ? 'medium' : 'low',
    };
  },
  run: (context, _input, guard, deadline) => hostOf(context).restart(guard, deadline, context),
  async look(context, { service }, guard) {
    const now = await hostOf(context).service(service, context);
    const { steady } = guard;
    if (steady && now.mainPid === steady.main_pid && now.startedAt === steady.started_at) return 'not_done';
    // Another main process than before, or one where none stayed: what a restart does. Who did it cannot be told.
    return now.mainPid !== null && (steady !== null || now.state === 'running') ? 'done' : 'cannot_tell';
  },
  subjects: ({ service }) => [service],
  repairsOnly: true,
  effect: ({ service }) => ({
    steps: [
      {
        tool: 'service_status',
        input: { service },
        holds: 'result.running',
        says: `${service} has been running under one process for 10 s`,
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
