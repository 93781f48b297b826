import { z } from 'zod';
import type { Risk, Verbs } from '../../../core/action.ts';
import { OpsError } from '../../../core/errors.ts';
import type { Json } from '../../../core/tool-call.ts';
import { bootClock } from '../../boot-clock.ts';
import { containerLine, limitsText, runsSteadily } from '../describe.ts';
import type { Container, Engine } from '../engine.ts';
import { containerName, containerTool, mayAct } from '../tool.ts';
import { feltBy } from './dependants.ts';
import { actOn, type ContainerGuard, containerObject, guardOf, present } from './guard.ts';

interface Input {
  readonly container: string;
}

/** What differs between starting, stopping, restarting, pausing and going on. */
interface Act {
  readonly name: string;
  readonly description: string;
  /** As the command lines of Docker and Podman have it, after `container`; its name when left out. */
  readonly command?: string;
  readonly verbs: Verbs;
  /** Why it cannot be done to a container in this state; undefined: it can. */
  refuses(container: Container): string | undefined;
  send(
    engine: Engine,
    id: string,
    context: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<unknown>;
  readonly did: string;
  blast(container: Container, felt: string): string;
  undo(container: Container): string;
  risk(container: Container): Risk;
  losesNothing(container: Container): boolean;
  /** Whether it is as it would be after it; `before`: when it had been started, null where it did not run. */
  isDone(container: Container, before: string | null): boolean;
  /** The same as CEL over the data of `inspect`. */
  readonly holds: string;
  readonly says: string;
  /** The act that takes it back. */
  readonly inverse?: string;
  readonly repairsOnly?: true;
}

/** How long the main process has to end by itself after SIGTERM, in seconds: the engines' own default. */
const GRACE = 10;
const post =
  (verb: string, query: object = {}): Act['send'] =>
  (engine, id, context) =>
    engine.post(`/containers/${id}/${verb}`, `to ${verb} it`, context, { query });
const runs = ({ upSeconds }: Container): boolean => upSeconds !== null;

const acts: readonly Act[] = [
  {
    name: 'start',
    description:
      'Starts a container that has ended or was never started. Look at why it died first: what ends by its own fault ends again.',
    verbs: {
      does: 'Start',
      did: 'Started',
      button: 'Start the container',
      frees: 'Whoever waits for it.',
      costs: 'The memory and CPU that it uses.',
    },
    refuses: (container) => (runs(container) ? `${container.name} runs already.` : undefined),
    send: post('start'),
    did: 'was started',
    blast: () => 'It is not running now, so nothing is interrupted.',
    undo: ({ name }) => `Stop ${name} again.`,
    risk: () => 'low',
    losesNothing: () => true,
    isDone: runs,
    holds: 'result.running',
    says: 'keeps running',
    inverse: 'stop',
    repairsOnly: true,
  },
  {
    name: 'stop',
    command: `stop --time ${GRACE}`,
    description: `Stops a container: SIGTERM, and SIGKILL after ${GRACE} s. Its restart policy does not start it again. For one that does harm while it runs.`,
    verbs: {
      does: 'Stop',
      did: 'Stopped',
      button: 'Stop the container',
      frees: 'What it holds: memory, CPU, ports, connections.',
      costs: 'It is away until somebody starts it.',
    },
    refuses: (container) =>
      runs(container) || container.state === 'restarting' ? undefined : `${container.name} does not run.`,
    send: post('stop', { t: GRACE }),
    did: 'was stopped',
    blast: ({ name }, felt) => `${name} stays down until somebody starts it. ${felt}`.trim(),
    undo: ({ name }) => `Start ${name} again; what it held in memory is gone.`,
    risk: (container) => (runsSteadily(container) ? 'high' : 'medium'),
    losesNothing: (container) => !runs(container),
    isDone: (container) => !runs(container) && container.state !== 'restarting',
    holds: "result.state == 'exited' || result.state == 'created'",
    says: 'is stopped',
    inverse: 'start',
  },
  {
    name: 'restart',
    command: `restart --time ${GRACE}`,
    description: `Restarts a container: SIGTERM, SIGKILL after ${GRACE} s, and a new start of the same container with the same image and configuration. For one that is stuck, unhealthy, or has to read what it reads at its start.`,
    verbs: {
      does: 'Restart',
      did: 'Restarted',
      button: 'Restart the container',
      frees: 'What hangs in it; it begins anew.',
      costs: 'It is away for a moment; what it held in memory is gone.',
    },
    refuses: () => undefined,
    send: post('restart', { t: GRACE }),
    did: 'was restarted',
    blast: (container, felt) =>
      runsSteadily(container)
        ? `It is away while it restarts; what it was doing is cut off. ${felt}`.trim()
        : 'It does not run steadily now; a restart cuts nothing off that works.',
    undo: () => 'Cannot be undone: what the old process held in memory is gone.',
    risk: (container) => (runsSteadily(container) ? 'medium' : 'low'),
    losesNothing: (container) => !runs(container),
    // One that ran before runs after it as well: another start tells.
    isDone: (container, before) => runs(container) && container.startedAt !== before,
    holds: 'result.running',
    says: 'keeps running, as one process',
    repairsOnly: true,
  },
  {
    name: 'pause',
    description:
      'Freezes all processes of a container; they keep their memory and connections, and answer nobody. For one that does harm and must not lose what it holds.',
    verbs: {
      does: 'Pause',
      did: 'Paused',
      button: 'Pause the container',
      frees: 'CPU, and whoever it keeps busy.',
      costs: 'It answers nobody until it goes on.',
    },
    refuses: ({ name, state }) => (state === 'running' ? undefined : `${name} is ${state}.`),
    send: post('pause'),
    did: 'was paused',
    blast: ({ name }, felt) => `${name} answers nobody until it goes on. ${felt}`.trim(),
    undo: ({ name }) => `Let ${name} go on: it continues where it was.`,
    risk: () => 'medium',
    losesNothing: () => true,
    isDone: ({ state }) => state === 'paused',
    holds: "result.state == 'paused'",
    says: 'is paused',
    inverse: 'unpause',
  },
  {
    name: 'unpause',
    description: 'Lets a paused container go on where it was.',
    verbs: {
      does: 'Let go on',
      did: 'Let go on',
      button: 'Let it go on',
      frees: 'Whoever waits for its answer.',
      costs: 'The CPU that it uses.',
    },
    refuses: ({ name, state }) => (state === 'paused' ? undefined : `${name} is ${state}, not paused.`),
    send: post('unpause'),
    did: 'goes on',
    blast: () => 'It answers again.',
    undo: ({ name }) => `Pause ${name} again.`,
    risk: () => 'low',
    losesNothing: () => true,
    isDone: ({ state }) => state === 'running',
    holds: "result.state == 'running'",
    says: 'goes on',
    inverse: 'pause',
    repairsOnly: true,
  },
];

/** Starting, stopping, restarting, pausing and letting go on. */
export const lifecycleTools = acts.map(lifecycleTool);

function lifecycleTool(act: Act) {
  return containerTool.active<Input, ContainerGuard>({
    name: `container_${act.name}`,
    description: act.description,
    kind: 'active',
    verbs: act.verbs,
    input: z.strictObject({ container: containerName }),
    timeoutMs: 45_000,
    command: ({ container }) => `container ${act.command ?? act.name} ${container}`,
    rules: (context) => mayAct(context),
    limit: (_input, { name }, [object]) => ({
      key: `${act.name} ${object?.key ?? name}`,
      what: `${act.name} of ${name}`,
      times: 2,
      withinMs: 10 * 60_000,
    }),
    async preflight(context, { container: name }) {
      const { engine } = context.system;
      const container = await present(engine, name, context);
      const objection = act.refuses(container);
      if (objection !== undefined)
        throw new OpsError('GONE', objection, { hint: 'Look at its state again.' });
      const felt = await feltBy(engine, container, context);
      return {
        guard: guardOf(container),
        clock: bootClock(),
        lines: [
          containerLine(container),
          `limits: ${limitsText(container)}; restart policy ${container.restartPolicy}`,
        ],
        blastRadius: act.blast(container, felt),
        felt,
        undo: act.undo(container),
        risk: act.risk(container),
        losesNothing: act.losesNothing(container),
      };
    },
    objects: containerObject,
    run: (context, { container: name }, guard, deadline) =>
      actOn(
        context,
        guard,
        deadline,
        (engine, id) => act.send(engine, id, context),
        { text: `${name} ${act.did}.`, data: { container: name } },
        act.risk,
      ),
    async look({ system, ...options }, _input, guard) {
      const now = await system.engine.container(guard.id, options);
      return act.isDone(now, guard.started_at) ? 'done' : 'not_done';
    },
    subject: ({ container: name }) => ({ kind: 'name', name }),
    // What is stopped or paused was not ill itself: it harmed others.
    ...(act.repairsOnly
      ? {
          repairsOnly: true,
          shownBy: ({ container: name }) => ({
            tool: 'container_inspect',
            input: { container: name },
            measures: ['running', 'well'],
          }),
        }
      : {}),
    ...(act.inverse === undefined
      ? {}
      : {
          inverse: (data: Json) => ({ tool: `container_${act.inverse}`, input: data }),
        }),
    effect: ({ container: name }) => ({
      steps: [
        {
          tool: 'container_inspect',
          input: { container: name },
          holds: act.holds,
          says: `${name} ${act.says}`,
        },
      ],
      holdMs: act.holds === 'result.running' ? 5_000 : 1_000,
      timeoutMs: 60_000,
    }),
  });
}
