import { z } from 'zod';
import type { Risk } from '../../../core/action.ts';
import { OpsError } from '../../../core/errors.ts';
import { bootClock } from '../../boot-clock.ts';
import { containerLine, runsSteadily } from '../describe.ts';
import type { Container } from '../engine.ts';
import { containerName, containerTool, mayAct } from '../tool.ts';
import { feltBy } from './dependants.ts';
import { actOn, type ContainerGuard, containerObject, guardOf, present } from './guard.ts';

/** Those that programs give a meaning to: to read their configuration, to dump, to end. */
const signals = ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGQUIT', 'SIGINT', 'SIGTERM', 'SIGKILL'] as const;
const ENDING: ReadonlySet<string> = new Set(['SIGQUIT', 'SIGINT', 'SIGTERM', 'SIGKILL']);

interface Input {
  readonly container: string;
  readonly signal: (typeof signals)[number];
}

const riskOf = (signal: Input['signal'], container: Container): Risk =>
  ENDING.has(signal) && runsSteadily(container) ? 'high' : 'medium';

/** Sends a signal to the main process of a container. */
export const killContainer = containerTool.active<Input, ContainerGuard>({
  name: 'container_kill',
  description:
    'Sends a signal to the main process of a running container: SIGHUP to have it read its configuration, SIGQUIT for a dump of its threads, SIGKILL for one that does not end otherwise. To stop or restart one use those tools.',
  kind: 'active',
  editable: ['signal'],
  verbs: {
    does: 'Signal',
    did: 'Signalled',
    button: 'Send the signal',
    frees: 'A program that heeds nothing softer.',
    costs: 'What it was doing is cut off.',
  },
  input: z.strictObject({ container: containerName, signal: z.enum(signals) }),
  timeoutMs: 20_000,
  command: ({ container, signal }) => `container kill --signal ${signal} ${container}`,
  rules: (context) => mayAct(context),
  async preflight(context, { container: name, signal }) {
    const { engine } = context.system;
    const container = await present(engine, name, context);
    if (container.upSeconds === null)
      throw new OpsError('GONE', `${container.name} does not run.`, { hint: 'Look at its state again.' });
    const ends = ENDING.has(signal);
    const felt = ends ? await feltBy(engine, container, context) : '';
    return {
      guard: guardOf(container),
      clock: bootClock(),
      lines: [containerLine(container), `restart policy ${container.restartPolicy}`],
      blastRadius: ends
        ? `Its main process ends, and what it was doing is cut off. ${felt}`.trim()
        : 'What the program does at this signal; one that knows nothing of it ends.',
      felt,
      undo: 'Cannot be undone.',
      risk: riskOf(signal, container),
    };
  },
  objects: containerObject,
  run: (context, { container: name, signal }, guard, deadline) =>
    actOn(
      context,
      guard,
      deadline,
      (engine, id) =>
        engine.post(`/containers/${id}/kill`, `to send it ${signal}`, context, { query: { signal } }),
      { text: `${signal} was sent to ${name}.`, data: { container: name, signal } },
      (container) => riskOf(signal, container),
    ),
  async look({ system, ...options }, { signal }, guard) {
    const now = await system.engine.container(guard.id, options);
    if (!ENDING.has(signal)) return 'cannot_tell';
    return now.startedAt === guard.started_at && now.upSeconds !== null ? 'not_done' : 'done';
  },
  subject: ({ container: name }) => ({ kind: 'name', name }),
  shownBy: ({ container: name }) => ({
    tool: 'container_inspect',
    input: { container: name },
    measures: ['running', 'well'],
  }),
  repairsOnly: true,
  effect: ({ container: name, signal }) => ({
    steps: [
      {
        tool: 'container_inspect',
        input: { container: name },
        holds: ENDING.has(signal) ? `result.state != 'paused'` : 'result.running',
        says: ENDING.has(signal) ? `${name} took the signal` : `${name} runs on`,
      },
    ],
    holdMs: 1_000,
    timeoutMs: 30_000,
  }),
});
