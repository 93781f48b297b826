import { DBOS } from '@dbos-inc/dbos-sdk';
import { messageOf } from '../../core/errors.ts';
import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import type { Jobs } from '../../core/jobs.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import { within } from '../../core/within.ts';
import { createEarlierTries, type EarlierTries, type TakenUp } from './earlier-tries.ts';
import { APPLICATION, QUESTION_WORKFLOW, QUESTIONS_QUEUE, QUEUE, WORKFLOW } from './enqueue-function.ts';
import { pidSpace } from './pid-space.ts';
import { createTakeover } from './takeover.ts';

/**
 * Runs `fn` once per name and turn: after a crash its recorded result is returned instead. `anew`: what an earlier try of the
 * same turn got from this step says nothing about now.
 */
export type Durably = <T>(
  name: string,
  fn: () => Promise<T>,
  options?: { readonly anew?: boolean },
) => Promise<T>;

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
  /** Begins no step, waits for the running ones at most `drainMs`, and closes. Their turns go on in another process or at the next start. */
  stop(drainMs: number): Promise<void>;
}

/** A turn that threw is tried again after 1, 2, 4 … s, at most a minute apart, for as long as it takes: nothing is lost. */
const RETRY_MAX_MS = 60_000;
/** Workflows of earlier tries that a turn looks its finished steps up in; the latest has nearly all of them. */
const MAX_TRIES_KNOWN = 12;
/** A question is of its moment: after this many faults it stays without an answer. */
const MAX_ANSWER_ATTEMPTS = 3;
const ANSWERS_AT_ONCE = 8;

export function createEngine(options: {
  readonly databaseUrl: string;
  readonly sql: Sql;
  readonly log: Log;
  /** Unique per process: two processes with the same one run every step twice. */
  readonly executorId: string;
  readonly turnsAtOnce?: number;
}): Engine {
  const { sql, log, executorId } = options;
  const takeover = createTakeover({ sql, log, executorId, host: pidSpace(), pid: process.pid });
  let stopping = false;
  const ending = new AbortController();
  const inFlight = new Set<Promise<unknown>>();

  const enqueueTurn: Jobs['enqueueTurn'] = async (incidentId, reason, { delayMs = 0 } = {}) => {
    await sql`SELECT sentry_enqueue_turn(${incidentId}, ${reason}, ${Math.max(0, Math.round(delayMs))})`;
  };

  /**
   * While we stop, no step begins and none is recorded: what was cut off must run again elsewhere, not be replayed as a
   * failure. A step never settles then; its turn stays pending and is taken over.
   */
  const durably: Durably = (name, fn) => DBOS.runStep(() => unlessStopping(fn), { name });

  async function unlessStopping<T>(fn: () => Promise<T>): Promise<T> {
    if (stopping) return forever();
    const work = fn();
    inFlight.add(work);
    try {
      return await work.then(
        (result) => (stopping ? forever() : result),
        (error: unknown) => {
          if (stopping) return forever();
          throw error;
        },
      );
    } finally {
      inFlight.delete(work);
    }
  }

  /** `durably` for one turn. `ran`: it has finished a step that no earlier try had. */
  function turnSteps(earlier: TakenUp | undefined): { readonly durably: Durably; ran: boolean } {
    const begun = new Map<string, number>();
    const steps = {
      ran: false,
      async durably<T>(name: string, fn: () => Promise<T>, { anew = false } = {}): Promise<T> {
        const nth = begun.get(name) ?? 0;
        begun.set(name, nth + 1);
        let taken = anew;
        const result = await durably(name, async () => {
          const before = anew ? undefined : await earlier?.finished(name, nth);
          if (before) taken = true;
          return before ? (before.output as T) : fn();
        });
        if (!taken) steps.ran = true;
        return result;
      },
    };
    return steps;
  }

  async function runTurn(turn: Turn, id: string, asked: string): Promise<void> {
    const { attempts, tries, reason } = readAsked(asked);
    const earlier = tries.length > 0 ? createEarlierTries(tries) : undefined;
    const steps = turnSteps(earlier);
    try {
      await turn(asIncidentId(id), reason, steps.durably, earlier);
    } catch (error) {
      // Neither done nor failed: left pending, it is taken over.
      if (stopping) return forever();
      const attempt = attempts + 1;
      const delayMs = Math.min(RETRY_MAX_MS, 1000 * 2 ** (attempt - 1));
      log.error(
        { incident: id, reason, attempt, delayMs, error: messageOf(error) },
        'turn failed; it will be tried again',
      );
      const before = earlier?.isGoingOn === true || !steps.ran ? tries : [];
      // A try that finished nothing new tells the next one nothing.
      const known = steps.ran ? [DBOS.workflowID ?? '', ...before].slice(0, MAX_TRIES_KNOWN) : before;
      const again = `retry ${[attempt, ...known].join(' ')}: ${reason}`;
      await DBOS.runStep(() => enqueueTurn(asIncidentId(id), again, { delayMs }), { name: 'retry later' });
    }
  }

  async function runAnswer(
    answer: AnswerQuestion,
    id: string,
    thread: string,
    attempt: number,
  ): Promise<void> {
    try {
      await answer(id, durably, attempt >= MAX_ANSWER_ATTEMPTS);
    } catch (error) {
      if (stopping) return forever();
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

  async function runScheduled(name: string, work: Scheduled['work']): Promise<void> {
    try {
      await durably(name, async () => {
        await work(ending.signal);
      });
    } catch (error) {
      if (stopping) return forever();
      log.error({ scheduled: name, error: messageOf(error) }, 'scheduled work failed');
    }
  }

  return {
    enqueueTurn,

    async start(turn, scheduled = [], answer) {
      DBOS.setConfig({
        name: APPLICATION,
        systemDatabaseUrl: options.databaseUrl,
        systemDatabasePoolSize: 12,
        runMigrations: false,
        // Constant: a new version of the code goes on with what an older one left (design.md §3).
        applicationVersion: APPLICATION,
        executorID: executorId,
        enablePatching: true,
        tracingEnabled: false,
        logger: quietLogger(log),
      });
      DBOS.registerWorkflow((id: string, reason: string) => runTurn(turn, id, reason), {
        name: WORKFLOW,
        // Each graceful restart counts as one recovery; dead-lettering an incident would lose it.
        maxRecoveryAttempts: 1_000_000,
      });
      if (answer !== undefined)
        DBOS.registerWorkflow(
          (id: string, thread: string, attempt: number) => runAnswer(answer, id, thread, attempt),
          { name: QUESTION_WORKFLOW, maxRecoveryAttempts: 1_000_000 },
        );
      const schedules = scheduled.map(({ name, cron, work }) => ({
        scheduleName: name,
        schedule: cron,
        workflowFn: DBOS.registerWorkflow(() => runScheduled(name, work), {
          name: `scheduled ${name}`,
          maxRecoveryAttempts: 1_000_000,
        }),
      }));
      await DBOS.launch();
      await DBOS.applySchedules(schedules);
      await DBOS.registerQueue(QUEUE, {
        partitionConcurrency: 1,
        workerConcurrency: options.turnsAtOnce ?? 16,
        minPollingIntervalMs: 50,
        onConflict: 'always_update',
      });
      if (answer !== undefined)
        await DBOS.registerQueue(QUESTIONS_QUEUE, {
          partitionConcurrency: 1,
          workerConcurrency: ANSWERS_AT_ONCE,
          minPollingIntervalMs: 50,
          onConflict: 'always_update',
        });
      await takeover.start();
    },

    async trigger(name) {
      await (await DBOS.triggerSchedule(name)).getResult();
    },

    async stop(drainMs) {
      stopping = true;
      ending.abort();
      await within(drainMs, Promise.allSettled(inFlight), () => undefined);
      await takeover.stop();
      await DBOS.shutdown({ deregister: true });
    },
  };
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

const forever = (): Promise<never> => new Promise<never>(() => undefined);

/** The engine's own chatter is for debugging; its warnings and errors are ours too. */
function quietLogger(log: Log) {
  const text = (entry: unknown): string => (typeof entry === 'string' ? entry : messageOf(entry));
  return {
    debug: (entry: unknown) => log.debug({ engine: 'dbos' }, text(entry)),
    info: (entry: unknown) => log.debug({ engine: 'dbos' }, text(entry)),
    warn: (entry: unknown) => log.warn({ engine: 'dbos' }, text(entry)),
    error: (entry: unknown) => log.error({ engine: 'dbos' }, text(entry)),
  };
}
