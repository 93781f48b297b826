import { refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import { isEnded } from '../../core/machine.ts';
import type { Tx } from '../../core/sql.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import type { Steered } from '../steering.ts';
import { mayLead, mayRest } from './correlate.ts';
import { decideAlone, type HoldDeps, holdMerged, putUnder } from './hold-merged.ts';
import { letGo } from './let-go.ts';
import { readStandings, type Standing } from './standing.ts';

/** Incidents of one problem: one leads and is looked into, the others rest under it. */
export interface Correlation {
  /** Has those of them rest that are a part of another, lets go on what need not any more, and answers which rest. */
  hold(ids: readonly IncidentId[]): Promise<ReadonlySet<IncidentId>>;
  /** It goes on by itself, and is not put under the same one again unless a person does. */
  split(id: IncidentId, by: string): Promise<Steered>;
  /** It rests under the other, because a person says so. */
  merge(id: IncidentId, into: IncidentId, by: string): Promise<Steered>;
}

interface CorrelationDeps extends HoldDeps {
  readonly audit: AuditLog;
}

export function createCorrelation(deps: CorrelationDeps): Correlation {
  return {
    hold: (ids) => holdMerged(deps, ids),
    split: (id, by) => split(deps, id, by),
    merge: (id, into, by) => merge(deps, id, into, by),
  };
}

async function split(deps: CorrelationDeps, id: IncidentId, by: string): Promise<Steered> {
  const from = await deps.sql.begin(async (tx) => {
    await decideAlone(tx);
    const row = await lockedWithLead(tx, id);
    if (!row?.mergedInto || row.isOver) return row ? null : undefined;
    await letGo(tx, deps, [id, row.mergedInto], by);
    await deps.audit.appendIn(tx, {
      kind: 'incident.split',
      actor: by,
      incidentId: id,
      details: { from: row.mergedInto },
    });
    await tx`SELECT sentry_enqueue_turn(${id}, 'split', 0)`;
    return row.mergedInto;
  });
  if (from === undefined) return refuse('UNKNOWN_INCIDENT', `There is no ${id}.`);
  if (from === null) return refuse('NOT_MERGED', `${id} is on its own already.`);
  return { ok: true, text: `${id} is on its own again, not a part of ${from}: I look into it by itself.` };
}

async function merge(deps: CorrelationDeps, id: IncidentId, into: IncidentId, by: string): Promise<Steered> {
  if (id === into) return refuse('SAME', 'Name two incidents: the one that rests, and the one that leads.');
  const now = await readStandings(deps.sql, [id, into]);
  const [child, lead] = [now.find((one) => one.id === id), now.find((one) => one.id === into)];
  if (!child || !lead) return refuse('UNKNOWN_INCIDENT', `There is no ${child ? into : id}.`);
  if (child.mergedInto === into && !isEnded(child.state))
    return { ok: true, text: `${id} is a part of ${into} already.` };
  const wrong = whyNot(child, lead);
  if (wrong !== null) return refuse('CANNOT_MERGE', wrong);
  if (!(await deps.isForSame(id, into)))
    return refuse(
      'APART',
      `Not everybody who reads ${id} may read ${into}, or the other way round: they stay apart.`,
    );
  const outcome = await deps.sql
    .begin(async (tx) => {
      await decideAlone(tx);
      const row = await lockedWithLead(tx, id, into);
      // It leads or ends meanwhile: then nothing is taken from where it is.
      if (!row || row.mergedInto !== child.mergedInto) return 'lost';
      if (row.mergedInto !== null) await letGo(tx, deps, [id, row.mergedInto], by);
      const done = await putUnder(tx, deps, [id, into], { kind: 'person', by });
      // Nothing of it stays, not even that it was taken from another.
      if (done !== 'merged') throw new NotMerged(done);
      await deps.audit.appendIn(tx, {
        kind: 'incident.merged',
        actor: by,
        incidentId: id,
        details: { into },
      });
      return done;
    })
    .catch((error: unknown) => {
      if (error instanceof NotMerged) return error.why;
      throw error;
    });
  if (outcome === 'cycle')
    return refuse('CYCLE', `${into} rests under ${id}: split that first (/sentry split ${into}).`);
  if (outcome === 'lost') return refuse('MOVED', `${id} or ${into} has just moved on: look, and try again.`);
  return {
    ok: true,
    text: `${id} is a part of ${into} now, and rests until that is over. To undo it: /sentry split ${id}`,
  };
}

/** Locks at once all that is written to: it, what it rests under, and what it is to rest under. */
async function lockedWithLead(
  tx: Tx,
  id: IncidentId,
  ...others: readonly IncidentId[]
): Promise<Standing | undefined> {
  const [seen] = await readStandings(tx, [id]);
  const leads = seen?.mergedInto ? [seen.mergedInto, ...others] : others;
  return (await readStandings(tx, [id, ...leads], true)).find((one) => one.id === id);
}

class NotMerged extends Error {
  readonly why: 'cycle' | 'lost';
  constructor(why: 'cycle' | 'lost') {
    super(why);
    this.why = why;
  }
}

/** Why a person may not put the one under the other, in plain words; null: they may. */
function whyNot(child: Standing, lead: Standing): string | null {
  if (isEnded(child.state) || child.isOver) return `${child.id} is over.`;
  if (child.acts)
    return `${child.id} has a fix that waits for approval or runs. Decide it first: an approval stays with its own system.`;
  if (child.rests) return `${child.id} waits already: it is muted, or the policy has it rest.`;
  if (!mayRest(child)) return `${child.id} is past looking for the cause: it stays on its own.`;
  if (!mayLead(lead)) return `${lead.id} is over or waits for people: nothing can rest under it.`;
  return null;
}
