import { setMaxListeners } from 'node:events';
import { type Heard, type Investigation, type Investigator, InvestigatorFailed } from '../agents/ports.ts';
import { anySignal } from '../core/any-signal.ts';
import { messageOf } from '../core/errors.ts';
import { groupMembers } from '../core/group.ts';
import type { Incident, Role } from '../core/incident.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { MemoryAsk, PreparedMemory, Recall } from '../core/memory.ts';
import { alertStartedAt } from '../record/alert-started-at.ts';
import { settledPart } from '../safety/screen/settled-part.ts';
import type { Credential } from '../safety/vault/credentials.ts';
import { changesLooked } from './ask-what-changed.ts';
import { redOfThisRound } from './claims/evidence.ts';
import { retriedReadFound } from './failed-reads/retried-read-found.ts';
import { note } from './move.ts';
import { objectionsTo } from './objections.ts';
import type { PhaseRun } from './phases/phase-run.ts';
import { triedIn } from './tried-in.ts';

/** Words change at most this often on record, the first at once; the last ones always arrive. Slack has its own pace. */
const WORDS_EVERY_MS = 300;

/**
 * Lets the incident's investigator do one phase as a role. When Claude fails, the playbook takes over for the rest of the
 * incident and the thread says so; when the playbook fails, that is a fault of ours and the turn is tried again.
 */
export async function withInvestigator<T>(
  run: PhaseRun,
  role: Role,
  recall: Recall,
  use: (investigator: Investigator, work: Investigation) => Promise<T>,
): Promise<T> {
  const { deps, incident } = run;
  const first = incident.investigator === 'playbook' || !deps.claude ? deps.playbook : deps.claude;
  try {
    return await attempt(run, role, recall, first, use);
  } catch (error) {
    if (!(error instanceof InvestigatorFailed) || first === deps.playbook) throw error;
    const reason = deps.redact(messageOf(error));
    const cause = error.cause === undefined ? undefined : deps.redact(messageOf(error.cause));
    deps.log.warn(
      { incident: incident.id, role, reason, cause },
      'the model failed; the playbook takes over',
    );
    await run.durably(`fallback ${role}`, async () => {
      await deps.sql`UPDATE incident SET investigator = 'playbook', words = NULL WHERE id = ${incident.id}`;
      await note(deps, incident, `fallback:${incident.round}`, { type: 'investigator.fallback', reason });
      return true;
    });
    return attempt(run, role, recall, deps.playbook, use);
  }
}

async function attempt<T>(
  run: PhaseRun,
  role: Role,
  recall: Recall,
  investigator: Investigator,
  use: (investigator: Investigator, work: Investigation) => Promise<T>,
): Promise<T> {
  const { deps, incident } = run;
  const grant = { role, incidentId: incident.id, targets: incident.target ? [incident.target] : [] };
  const credential = deps.vault.mint(grant);
  const narrower: Credential[] = [];
  const words = createProgress(run);
  const stop = watchForStop(run);
  try {
    const { seq: begun, ...context } = await run.durably(`context ${investigator.name} ${role}`, async () => {
      const record = await deps.records.load(incident.id);
      const guidance = (record?.events ?? []).flatMap((event) => {
        if (event.type === 'hint.given') return [{ by: event.by, text: event.text }];
        if (event.type === 'action.denied' && event.reason)
          return [{ by: event.by, text: `Denied: ${event.reason}` }];
        return [];
      });
      const tried = record ? triedIn(record) : [];
      const denied = (record?.actions ?? []).filter(({ state, beside }) => state === 'denied' && !beside);
      const again = record && retriedReadFound(record);
      const around =
        record && role === 'detective' ? await aroundIt(run, record, recall, credential, stop.signal) : {};
      return {
        sideBySide: true,
        ...around,
        guidance,
        tried,
        denied,
        seq: record?.events.at(-1)?.seq ?? 0,
        alertStartedAt: record && alertStartedAt(record),
        members: record ? groupMembers(record) : [],
        parts: (await partsSince(deps, incident, 0)).map(({ text }) => text),
        ...(again ? { retriedRead: again } : {}),
      };
    });
    const callsBy = (by: Credential): Pick<Investigation, 'callTool' | 'leaveOut'> => ({
      // Whoever does not look at the signal goes no step further all the same, whatever the read has said.
      callTool: async (request, purpose, own) => {
        stop.signal.throwIfAborted();
        const signal = own === undefined || own === stop.signal ? stop.signal : anySignal([stop.signal, own]);
        const result = await deps.gate.call(by, request, { purpose, signal });
        stop.signal.throwIfAborted();
        return result;
      },
      leaveOut: async (request, purpose, why) => {
        stop.signal.throwIfAborted();
        await deps.gate.call(by, request, { purpose, signal: stop.signal, notRun: why });
      },
    });
    const work: Investigation = {
      looks: incident.target === null ? [] : deps.gate.looks(incident.target),
      neighbours: incident.target === null ? [] : deps.gate.neighbours(incident.target),
      incident,
      recall,
      ...context,
      signal: stop.signal,
      hintsSince: (seq) => hintsSince(deps, incident, Math.max(seq, begun)),
      ...callsBy(credential),
      only: (tools) => {
        const narrow = deps.vault.mint({ ...grant, tools });
        narrower.push(narrow);
        return callsBy(narrow);
      },
      // Of what is being written, only what no secret can be half of.
      say: (text, kind) => words.say(kind === 'writing' || kind === 'thought' ? settledPart(text) : text),
      unsay: () => words.say(null),
      durably: (name, fn) => run.durably(`${investigator.name} ${role} ${name}`, fn),
      memoryFor: (turn, text, shown) =>
        memoryFor(run, `${investigator.name} ${role}`, role, { turn, text, shown }),
      modelChanged: async (model, why) => {
        await run.durably(`${role} on ${model}`, async () => {
          const event = { type: 'investigator.chosen', investigator: 'claude', why, model } as const;
          await note(deps, incident, `model:${incident.round}:${role}:${model}`, event);
          return true;
        });
      },
      dropped: (claim, reason) =>
        note(deps, incident, `dropped:${incident.round}:${claim.slice(0, 80)}`, {
          type: 'claim.dropped',
          claim: deps.redact(claim),
          reason,
        }),
      objections: async (diagnosis) => {
        const record = await deps.records.load(incident.id);
        return record ? objectionsTo(diagnosis, record, deps.gate.measures) : null;
      },
      redNow: async () => {
        const record = await deps.records.load(incident.id);
        return record ? redOfThisRound(record, deps.gate.measures) : [];
      },
      spent: (usage, as) => deps.records.addUsage(incident.id, as ?? role, usage),
    };
    return await use(investigator, work);
  } catch (error) {
    throw stop.signal.aborted ? new InvestigationStopped(error) : error;
  } finally {
    stop.end();
    for (const each of [credential, ...narrower]) deps.vault.revoke(each);
    await words.end();
  }
}

/** What was changed, and what else is known around it: all of it is asked at once. */
async function aroundIt(
  { deps, incident }: PhaseRun,
  record: IncidentRecord,
  recall: Recall,
  credential: Credential,
  signal: AbortSignal,
): Promise<Pick<Investigation, 'changes' | 'gathered'>> {
  const asked = deps.asksWhatChanged ? { changes: changesLooked(deps, record, credential, signal) } : {};
  const neighbours = incident.target === null ? [] : deps.gate.neighbours(incident.target);
  const [changes, gathered] = await Promise.all([
    asked.changes,
    deps.context?.gathered(deps, { record, recall, neighbours, signal, ...asked }),
  ]);
  return { ...(changes === undefined ? {} : { changes }), ...(gathered ? { gathered } : {}) };
}

async function hintsSince(
  deps: PhaseRun['deps'],
  incident: Incident,
  seq: number,
): Promise<readonly Heard[]> {
  const hints = await deps.sql<Heard>`
    SELECT seq, body->>'by' AS by, body->>'text' AS text FROM event
    WHERE incident_id = ${incident.id} AND type = 'hint.given' AND seq > ${seq} ORDER BY seq`;
  return [...hints, ...(await partsSince(deps, incident, seq))].toSorted((a, b) => a.seq - b.seq);
}

/** What is taken for a part of this problem since then, and rests under it. */
async function partsSince(
  { sql, redact }: PhaseRun['deps'],
  { id }: Incident,
  seq: number,
): Promise<readonly Heard[]> {
  const parts = await sql<Pick<Incident, 'title' | 'alertName' | 'target' | 'openedAt'> & { seq: number }>`
    SELECT e.seq, m.title, m.alert_name AS "alertName", m.target, m.opened_at AS "openedAt"
      FROM event e JOIN incident m ON m.id = e.body->>'incident' AND m.merged_into = e.incident_id
     WHERE e.incident_id = ${id} AND e.type = 'member.merged' AND e.seq > ${seq} ORDER BY e.seq`;
  return parts.map(({ seq: at, title, alertName, target, openedAt }) => ({
    seq: at,
    by: null,
    text: redact(
      `${alertName ?? title}${alertName && title !== alertName ? ` (${title})` : ''} on ${target ?? 'an unknown system'}, since ${openedAt}`,
    ),
  }));
}

/** Two steps: the words are settled before they are put on record, so that what is on record is what was shown. */
async function memoryFor(
  run: PhaseRun,
  prefix: string,
  role: Role,
  ask: Pick<MemoryAsk, 'turn' | 'text' | 'shown'>,
): Promise<PreparedMemory | null> {
  const { deps, incident } = run;
  const round = `${prefix} r${incident.round} memory ${ask.turn}`;
  const prepared = await run.durably(round, () => deps.memory.prepare({ incident, role, ...ask }));
  if (prepared === null) return null;
  await run.durably(`${round} on record`, async () => {
    await deps.memory.recordShown(incident.id, role, prepared);
    return true;
  });
  return prepared;
}

/** A person stopped or closed the incident, or Sentry stops: whoever goes on has been asked for already, or will be. */
export class InvestigationStopped extends Error {
  constructor(cause: unknown) {
    super('The investigation was stopped.', { cause });
    this.name = 'InvestigationStopped';
  }
}

/** Aborts when a person stops or closes the incident, in whichever process, or at shutdown. */
export function watchForStop(run: PhaseRun): { readonly signal: AbortSignal; end(): void } {
  const { deps, incident } = run;
  const stopped = new AbortController();
  const end = deps.stops.watch(incident.id, () => stopped.abort(new Error(`${incident.id} was stopped.`)));
  const signal = anySignal([deps.shutdown, stopped.signal]);
  // Every model call and every parallel tool call listens.
  setMaxListeners(0, signal);
  // At shutdown no step settles any more, so nobody comes to call `end`.
  signal.addEventListener('abort', end, { once: true });
  return { signal, end };
}

/** Writes a role's words to the record, throttled; the model's stream must not wait for it. */
function createProgress(run: PhaseRun): { say(words: string | null): void; end(): Promise<void> } {
  const { deps, incident } = run;
  let latest: string | null | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): void => {
    timer = undefined;
    if (latest === undefined) return;
    const words = latest;
    latest = undefined;
    lastAt = performance.now();
    writing = writing.then(async () => {
      try {
        await deps.records.setWords(incident.id, words === null ? null : deps.redact(words));
      } catch (error) {
        // Words are for watching; losing some of them loses nothing on record.
        deps.log.warn({ incident: incident.id, error: messageOf(error) }, 'could not show the current words');
      }
    });
  };
  return {
    say(words) {
      // Whoever goes on after the shutdown says it again.
      if (deps.shutdown.aborted) return;
      latest = words;
      timer ??= setTimeout(flush, Math.max(0, lastAt + WORDS_EVERY_MS - performance.now()));
    },
    async end() {
      clearTimeout(timer);
      flush();
      await writing;
    },
  };
}
