import { z } from 'zod';
import { measureAt } from '../../../core/measure.ts';
import type { Json } from '../../../core/tool-call.ts';
import { sha256 } from '../../../safety/sha256.ts';
import { age } from '../../format.ts';
import { hostTool } from '../tool.ts';

export const serviceName = z
  .string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9._@-]{0,62}$/, 'expected the name of a declared service')
  .describe('Name of a service declared for the target.');

/**
 * One declared service. Data: `{ service, state, running, main_pid, started_at, age_seconds, restarts, says }`; `running`
 * only after 10 s under one pid: a service that dies and starts again all the time is `restarting`.
 */
export const serviceStatus = hostTool.read({
  name: 'service_status',
  description:
    'Whether a declared service runs: its state (running, restarting, stopped, failed), main process, age in seconds, and how often its supervisor started it again. Without a name: all of them.',
  kind: 'read',
  measures: [
    measureAt('running', {
      name: 'running',
      label: 'the service runs steadily',
      unwell: { is: 'the service does not run steadily', was: 'the service did not run steadily' },
      unit: '',
      healthy: 'at_least',
      bound: 1,
      // What dies and is started again is up at most looks.
      intermittent: true,
    }),
    {
      name: 'services_down',
      label: 'declared services that do not run',
      well: '{bound} that are declared do not run',
      unit: 'services',
      healthy: 'at_most',
      bound: 0,
      intermittent: true,
      value: (data) => {
        const { services } = data as { readonly services?: readonly { readonly running: boolean }[] };
        return services === undefined || services.length === 0
          ? null
          : services.filter(({ running }) => !running).length;
      },
    },
    measureAt('restarts', {
      name: 'restarts',
      label: 'times its supervisor has started it again',
      well: 'its supervisor does not start it again',
      unit: '',
      healthy: 'steady',
      bound: 0,
    }),
    {
      // Who starts it again need not count: another process is a restart.
      name: 'main_process',
      label: 'the process it runs as',
      well: 'it stays the same process',
      unit: '',
      healthy: 'same',
      bound: 0,
      value: processNumber,
    },
  ],
  input: z.strictObject({ service: serviceName.optional() }),
  timeoutMs: 15_000,
  async run(context, { service }) {
    const host = context.system;
    const names = service === undefined ? host.services : [service];
    const states = await Promise.all(names.map((name) => host.service(name, context)));
    const services = states.map((state) => ({
      service: state.name,
      state: state.state,
      running: state.state === 'running',
      main_pid: state.mainPid,
      started_at: state.startedAt,
      age_seconds: state.ageSeconds,
      restarts: state.restarts,
      says: state.says,
    }));
    const lines = services.map(
      (each) =>
        `${each.service}: ${each.state}${each.main_pid === null ? '' : `, pid ${each.main_pid}`}${each.age_seconds === null ? '' : ` since ${age(each.age_seconds)}`}${each.restarts === null ? '' : `, started again ${each.restarts} times`} (${each.says})`,
    );
    const [first] = services;
    const data = service === undefined || !first ? { services } : { ...first, services };
    return { text: lines.join('\n') || 'No service is declared for this host.', data };
  },
});

/** A number for the processes that run now, by pid and start; null while one of them is not known. */
function processNumber(data: Json): number | null {
  const { services = [] } = data as {
    readonly services?: readonly { readonly main_pid: number | null; readonly started_at: string | null }[];
  };
  if (services.length === 0 || services.some(({ main_pid, started_at }) => !main_pid || !started_at))
    return null;
  const who = services.map(({ main_pid, started_at }) => `${main_pid} ${started_at}`).join('\n');
  // 48 bits: a number that JSON keeps as it is.
  return Number.parseInt(sha256(who).slice(0, 12), 16);
}
