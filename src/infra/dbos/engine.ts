import { DBOS } from '@dbos-inc/dbos-sdk';
import { messageOf } from '../../core/errors.ts';
import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import type { Jobs } from '../../core/jobs.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import { createEarlierTries, type EarlierTries } from './earlier-tries.ts';
import { engineUrl } from './engine-url.ts';
import {
  APPLICATION,
  QUESTION_WORKFLOW,
  QUESTIONS_QUEUE,
  QUEUE,
  TURNS_AT_ONCE,
  WORKFLOW,
} from './enqueue-function.ts';
import { createIdleQueues } from './idle-queues.ts';
import { quietLogger } from './quiet-logger.ts';
import { createSteps, createTurnSteps, type Durably, forever, type Steps } from './steps.ts';
import { createTakeover } from './takeover.ts';
import { createWallClock } from './wall-clock.ts';

/**
 * One short durable workflow for an incident. Throwing asks for the same turn again, later; that one is given what the
 * tries before it have finished.
 */
export type Turn = (
  incidentId: IncidentId,
  reason: string,
  durably: Durably,
  earlier?: EarlierTries,
) => Promise<void>;

/** Answers one question, as a durable workflow beside the turns. Throwing asks for it again, later, unless this is the last time. */
export type AnswerQuestion = (questionId: string, durably: Durably, isLast: boolean) => Promise<void>;

/** Work at set times: once for all processes each time; a process that dies in it leaves it to another. */
export interface Scheduled {
  /** Stays the same for good: it is what the database knows it by. */
  readonly name: string;
  /** Five fields, UTC. */
  readonly cron: string;
  /** May run again after a crash. Throwing is logged; the next time comes as planned. */
  readonly work: (signal: AbortSignal) => Promise<unknown>;
}

export interface Engine extends Jobs {
  /** Takes over the turns of dead processes and begins to work. */
  start(turn: Turn, scheduled?: readonly Scheduled[], answer?: AnswerQuestion): Promise<void>;
  /** Runs a scheduled work now, as if its time had come. */
  trigger(name: string): Promise<void>;
  /** How many processes work on the record, this one included. */
  processes(): number;
  /** Begins no step, waits for the running ones at most `drainMs`, and closes. Their turns go on in another process or at the next start. */
  stop(drainMs: number): Promise<void>;
}

export interface EngineOptions {
  readonly databaseUrl: string;
  readonly sql: Sql;
  readonly log: Log;
  /** Unique per process: two processes with the same one run every step twice. */
  readonly executorId: string;
}

/** A turn that threw is tried again after 1, 2, 4 … s, at most a minute apart, for as long as it takes: nothing is lost. */
const RETRY_MAX_MS = 60_000;
/** Workflows of earlier tries that a turn looks its finished steps up in; the latest has nearly all of them. */
const MAX_TRIES_KNOWN = 12;
/** A question is of its moment: after this many faults it stays without an answer. */
const MAX_ANSWER_ATTEMPTS = 3;
const ANSWERS_AT_ONCE = 8;

export function createEngine(options: EngineOptions): Engine {
  const { sql, log, executorId } = options;
  const takeover = createTakeover({ sql, log, executorId });
  const clock = createWallClock({ sql, log });
  const idleQueues = createIdleQueues({ log });
  const running: Running = { sql, log, steps: createSteps() };

  return {
    enqueueTurn: (incidentId, reason, { delayMs = 0 } = {}) =>
      enqueueTurn(sql, incidentId, reason, Math.max(0, Math.round(delayMs))),

    async start(turn, scheduled = [], answer) {
      await configure(options);
      registerWorkflow(WORKFLOW, (id: string, asked: string) => runTurn(running, turn, id, asked));
      if (answer !== undefined)
        registerWorkflow(QUESTION_WORKFLOW, (id: string, thread: string, attempt: number) =>
          runAnswer(running, answer, { id, thread, attempt }),
        );
      const schedules = scheduled.map(({ name, cron, work }) => ({
        scheduleName: name,
        schedule: cron,
        workflowFn: registerWorkflow(`scheduled ${name}`, () => runScheduled(running, name, work)),
      }));
      clock.follow();
      idleQueues.follow();
      await DBOS.launch();
      await DBOS.applySchedules(schedules);
      await registerQueue(QUEUE, TURNS_AT_ONCE);
      if (answer !== undefined) await registerQueue(QUESTIONS_QUEUE, ANSWERS_AT_ONCE);
      await takeover.start();
    },

    processes: takeover.processes,

    async trigger(name) {
      await (await DBOS.triggerSchedule(name)).getResult();
    },

    async stop(drainMs) {
      await running.steps.stop(drainMs);
      await takeover.stop();
      clock.leave();
      idleQueues.leave();
      await DBOS.shutdown({ deregister: true });
    },
  };
}

async function configure({ databaseUrl, executorId, log }: EngineOptions): Promise<void> {
  DBOS.setConfig({
    name: APPLICATION,
    systemDatabaseUrl: await engineUrl(databaseUrl),
    systemDatabasePoolSize: 12,
    runMigrations: false,
    // Constant: a new version of the code goes on with what an older one left (design.md §3).
    applicationVersion: APPLICATION,
    executorID: executorId,
    enablePatching: true,
    tracingEnabled: false,
    logger: quietLogger(log),
  });
}

function registerWorkflow<A extends unknown[]>(name: string, run: (...args: A) => Promise<void>) {
  // Each graceful restart counts as one recovery; dead-lettering an incident would lose it.
  return DBOS.registerWorkflow(run, { name, maxRecoveryAttempts: 1_000_000 });
}

/** One workflow of a partition (an incident, a thread) at a time. */
async function registerQueue(name: string, workerConcurrency: number): Promise<void> {
  await DBOS.registerQueue(name, {
    partitionConcurrency: 1,
    workerConcurrency,
    minPollingIntervalMs: 50,
    onConflict: 'always_update',
  });
}

/** What the workflows of this process run with. */
interface Running {
  readonly sql: Sql;
  readonly log: Log;
  readonly steps: Steps;
}

async function enqueueTurn(sql: Sql, incidentId: IncidentId, reason: string, delayMs: number): Promise<void> {
  await sql`SELECT sentry_enqueue_turn(${incidentId}, ${reason}, ${delayMs})`;
}

async function runTurn({ sql, log, steps }: Running, turn: Turn, id: string, asked: string): Promise<void> {
  const { attempts, tries, reason } = readAsked(asked);
  const earlier = tries.length > 0 ? createEarlierTries(tries) : undefined;
  const turnSteps = createTurnSteps(steps, earlier);
  try {
    await turn(asIncidentId(id), reason, turnSteps.durably, earlier);
  } catch (error) {
    // Neither done nor failed: left pending, it is taken over.
    if (steps.stopping()) return forever();
    const attempt = attempts + 1;
    const delayMs = Math.min(RETRY_MAX_MS, 1000 * 2 ** (attempt - 1));
    log.error(
      { incident: id, reason, attempt, delayMs, error: messageOf(error) },
      'turn failed; it will be tried again',
    );
    const before = earlier?.isGoingOn === true || !turnSteps.ran ? tries : [];
    // A try that finished nothing new tells the next one nothing.
    const known = turnSteps.ran ? [DBOS.workflowID ?? '', ...before].slice(0, MAX_TRIES_KNOWN) : before;
    const again = `retry ${[attempt, ...known].join(' ')}: ${reason}`;
    await DBOS.runStep(() => enqueueTurn(sql, asIncidentId(id), again, delayMs), { name: 'retry later' });
  }
}

async function runAnswer(
  { sql, log, steps }: Running,
  answer: AnswerQuestion,
  { id, thread, attempt }: { readonly id: string; readonly thread: string; readonly attempt: number },
): Promise<void> {
  try {
    await answer(id, steps.durably, attempt >= MAX_ANSWER_ATTEMPTS);
  } catch (error) {
    if (steps.stopping()) return forever();
    log.error({ question: id, attempt, error: messageOf(error) }, 'a question could not be answered');
    if (attempt >= MAX_ANSWER_ATTEMPTS) return;
    await DBOS.runStep(
      async () => {
        await sql`SELECT sentry_enqueue_question(${id}, ${thread}, ${attempt + 1}, ${1000 * 2 ** attempt})`;
      },
      { name: 'retry later' },
    );
  }
}

async function runScheduled({ log, steps }: Running, name: string, work: Scheduled['work']): Promise<void> {
  try {
    await steps.durably(name, async () => {
      await work(steps.stopSignal);
    });
  } catch (error) {
    if (steps.stopping()) return forever();
    log.error({ scheduled: name, error: messageOf(error) }, 'scheduled work failed');
  }
}

/** What a turn is for is kept when it is tried again: an undo's turn is not the incident's. `tries`: the latest first. */
function readAsked(asked: string): {
  readonly attempts: number;
  readonly tries: readonly string[];
  readonly reason: string;
} {
  const [, attempts = '0', tries = '', reason = asked] =
    /^retry (\d+)((?: [\w-]{8,64})*)(?:: (.*))?$/s.exec(asked) ?? [];
  return { attempts: Number(attempts), tries: tries.split(' ').filter((id) => id !== ''), reason };
}
