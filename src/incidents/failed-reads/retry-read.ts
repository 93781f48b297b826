import { type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isEnded } from '../../core/machine.ts';
import { addRequester } from '../../record/record.ts';
import type { GrantSteps } from '../../targets/kind.ts';
import type { InvestigationDeps } from '../deps.ts';
import type { Steered } from '../steering.ts';
import { classifyReadFailure } from './classify-read-failure.ts';
import { type OpenRead, openReads } from './open-reads.ts';

/** One read as a button names it; all of it comes from outside and is held against the record. */
export interface NamedRead {
  readonly incidentId: IncidentId;
  readonly toolCallId: string;
  /** SHA-256 over exactly that read (unread/read-hash). */
  readonly hash: string;
}

/** What has to be granted for one read. */
export interface Grant extends GrantSteps {
  readonly tool: string;
  readonly target: string;
  /** Why it could not be read. */
  readonly reason: string;
}

/** Has reads made again that showed nothing, and says what has to be allowed first. Reads only. */
export interface RetryRead {
  /** The next turn makes it, through the gate; when it works the incident is looked at again. One click wins. */
  ask(read: NamedRead, by: string): Promise<Steered>;
  /** What has to be granted before, by whom and how; Sentry grants nothing itself. */
  grant(read: NamedRead, by: string): Promise<({ readonly ok: true } & Grant) | Refusal>;
}

/** Somebody may have wanted it to ask for this. */
const CAREFUL = 'Careful: what was read in this incident holds text that reads like instructions to a model.';

export interface RetryReadOptions {
  /** Whether this person may; asked at every press. */
  readonly mayAsk: (user: string) => Promise<Refusal | undefined>;
  /** The account that Sentry reads a target with; null where it cannot be told. */
  readonly readerOf: (target: string) => string | null;
}

export function createRetryRead(deps: InvestigationDeps, { mayAsk, readerOf }: RetryReadOptions): RetryRead {
  const { sql, records, audit } = deps;

  async function refused(read: NamedRead, by: string, no: Refusal): Promise<Refusal> {
    const known = await records.incident(read.incidentId);
    await audit.append({
      kind: 'read.refused',
      actor: by,
      ...(known ? { incidentId: known.id } : {}),
      details: { toolCall: read.toolCallId.slice(0, 40), code: no.code },
    });
    return no;
  }

  /** The read of the button as the record has it now, when it may be made again by this person. */
  async function found(
    read: NamedRead,
    by: string,
  ): Promise<{ record: IncidentRecord; open: OpenRead } | Refusal> {
    const no = await mayAsk(by);
    if (no) return no;
    const record = await records.load(read.incidentId);
    if (!record) return refuse('UNKNOWN_INCIDENT', 'This incident is not on record any more.');
    const { id, state } = record.incident;
    if (isEnded(state)) return refuse('ENDED', `${id} has ended (${state}); nothing more is read for it.`);
    if (state === 'stopped') return refuse('STOPPED', `${id} is stopped: mention me with “resume” first.`);
    if (state !== 'reported' && state !== 'escalated')
      return refuse('BUSY', `${id} is being worked on right now; look at the thread.`);
    const open = openReads(record).find(({ call }) => call.id === read.toolCallId);
    if (!open || open.hash !== read.hash)
      return refuse('STALE', 'This button is out of date; the thread has the latest. Nothing was read.');
    return deps.gate.mayReadAgain(open.call) ?? { record, open };
  }

  return {
    async ask(read, by) {
      const is = await found(read, by);
      if ('ok' in is) return refused(read, by, is);
      const { record, open } = is;
      const { incident } = record;
      const { call, why, hash } = open;
      const taken = await sql.begin(async (tx) => {
        const rows = await tx`
          SELECT FROM incident WHERE id = ${incident.id} AND state = ${incident.state} AND round = ${incident.round}
             FOR UPDATE`;
        if (rows.length === 0) return 'moved';
        const event = {
          type: 'read.asked',
          by,
          toolCallId: call.id,
          readHash: hash,
          tool: call.tool,
          way: why.way,
        } as const;
        const once = `read asked:${call.id}:${open.waitsSince}`;
        if (!(await records.append(tx, incident.id, event, once))) return 'twice';
        await addRequester(tx, incident.id, by);
        await audit.appendIn(tx, {
          kind: 'read.asked',
          actor: by,
          incidentId: incident.id,
          details: { toolCall: call.id, tool: call.tool, target: call.target, readHash: hash, way: why.way },
        });
        await tx`SELECT sentry_enqueue_turn(${incident.id}, 'read again')`;
        return 'taken';
      });
      if (taken === 'taken') return { ok: true, text: `Reading ${call.tool} again.` };
      return refused(
        read,
        by,
        taken === 'twice'
          ? refuse('ASKED_ALREADY', 'Somebody has pressed this already; it is being read.')
          : refuse('BUSY', 'It has just moved on; look at the thread.'),
      );
    },

    async grant(read, by) {
      const is = await found(read, by);
      if ('ok' in is) return refused(read, by, is);
      const { call } = is.open;
      const target = call.target ?? '';
      const why = classifyReadFailure(call, readerOf(target));
      if (why?.way !== 'grant') return refuse('NOTHING_TO_GRANT', 'Nothing has to be granted for this.');
      const { reason, steps } = why;
      const suspicious = is.record.events.some((event) => event.type === 'injection.found');
      const note = suspicious ? `${CAREFUL} ${steps.note ?? ''}`.trim() : steps.note;
      return { ok: true, tool: call.tool, target, reason, ...steps, note };
    },
  };
}
