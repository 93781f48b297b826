import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import type { Tool } from '../../../src/tools/define.ts';
import {
  boxAlert,
  boxInvestigator,
  boxTools,
  type Core,
  createCore,
  type Machine,
} from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let core: Core;
let fingerprint: string;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({ url: database.url, tools: boxTools(machine) });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});
beforeEach(() => {
  fingerprint = randomUUID().replaceAll('-', '');
  Object.assign(machine, { broken: true, generation: 1, effects: 0, helps: true });
});

const fires = (changes: Partial<Alert> = {}) => core.accept(boxAlert({ fingerprint, ...changes }));

const until = (id: IncidentId, state: IncidentState, round = 1): Promise<IncidentRecord> =>
  waitFor(`${id} to be ${state}`, async () => {
    const record = await core.records.load(id);
    return record?.incident.state === state && record.incident.round >= round ? record : null;
  });

async function waiting(changes: Partial<Alert> = {}): Promise<IncidentRecord> {
  const { incidentId } = await fires(changes);
  if (!incidentId) throw new Error('not accepted');
  return until(incidentId, 'awaiting_approval');
}

describe('a person closes it', () => {
  test('on their word alone; what waited is void, and the one who is slower is told', async () => {
    const { incident, actions } = await waiting();
    const { id } = incident;
    const both = await Promise.all([
      core.steering.close(id, 'U0ANN', 'done by hand'),
      core.steering.close(id, 'U0BEN', ''),
    ]);
    expect(both.filter(({ ok }) => ok)).toHaveLength(1);
    expect(both.find(({ ok }) => !ok)).toMatchObject({ code: 'ENDED', reason: `${id} is over already.` });
    const record = await until(id, 'resolved');
    expect(record.incident).toMatchObject({ resolvedBy: 'person', verdict: null, nextStep: null });
    // With how bad it was then.
    expect(record.events.filter(({ type }) => type === 'incident.closed')).toEqual([
      expect.objectContaining({ severity: incident.severity }),
    ]);
    const [action] = actions;
    expect(
      await core.approvals.decide({
        actionId: action!.id,
        planHash: action!.planHash,
        by: 'UONCALL',
        decision: 'approve',
        reason: '',
        anotherWay: false,
      }),
    ).toMatchObject({ ok: false, code: 'VOID' });
    expect(machine.effects).toBe(0);
    expect(why(record)).toMatch(/<@U0(ANN|BEN)> closed it/);
    const [audited] = await core.sql`
      SELECT count(*)::int AS n FROM audit_entry WHERE body LIKE ${`%"incident.closed"%`} AND body LIKE ${`%"${id}"%`}`;
    expect(audited).toEqual({ n: 1 });
  });

  test('and goes on in the same thread when its alert fires again', async () => {
    const { incident } = await waiting();
    await core.steering.close(incident.id, 'U0ANN', '');
    await fires();
    const again = await until(incident.id, 'awaiting_approval', 2);
    expect(again.incident).toMatchObject({ resolvedBy: null, endedAt: null });
  });

  test('stopped or not, but not over a fix that runs', async () => {
    const { incident } = await waiting();
    const { id } = incident;
    await core.sql`UPDATE incident SET state = 'remediating' WHERE id = ${id}`;
    expect(await core.steering.close(id, 'U0ANN', '')).toMatchObject({ ok: false, code: 'FIX_RUNS' });
    await core.sql`UPDATE incident SET state = 'awaiting_approval' WHERE id = ${id}`;
    await core.steering.stop(id, 'U0ANN', '');
    expect(await core.steering.close(id, 'U0ANN', '')).toMatchObject({ ok: true });
    expect(await core.steering.resume(id, 'U0ANN')).toMatchObject({ ok: false });
    expect(await core.steering.close('INC-999999' as IncidentId, 'U0ANN', '')).toMatchObject({
      code: 'UNKNOWN_INCIDENT',
    });
  });
});

describe('work under way', () => {
  /** A read that ends only when it is cut off, as a target's that hangs. */
  let held: { began: number; cutOff: number; after: number };
  let slow: Core;

  beforeAll(async () => {
    held = { began: 0, cutOff: 0, after: 0 };
    const [state, ...others] = boxTools(machine);
    const hangs = {
      ...state,
      timeoutMs: 3_600_000,
      run: ({ signal }: { readonly signal: AbortSignal }) => {
        held.began += 1;
        return new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => {
            held.cutOff += 1;
            reject(new Error('cut off'));
          });
        });
      },
    } as Tool;
    slow = await createCore({
      url: database.url,
      tools: [hangs, ...others],
      investigator: {
        ...boxInvestigator,
        // Looks at no signal, and goes on whatever a read says.
        diagnose: async (work, known) => {
          await work.durably('first look', () =>
            work.callTool({ tool: 'box_state', target: work.incident.target, input: {} }),
          );
          held.after += 1;
          return boxInvestigator.diagnose(work, known);
        },
      },
    });
    await core.stop();
    await slow.start();
  });
  afterAll(async () => {
    await slow.stop();
    core = await createCore({ url: database.url, tools: boxTools(machine) });
    await core.start();
  });

  const reading = async (): Promise<IncidentId> => {
    const began = held.began;
    const { incidentId } = await slow.accept(boxAlert({ fingerprint }));
    if (!incidentId) throw new Error('not accepted');
    await waitFor('it to look', async () => (held.began > began ? true : null));
    return incidentId;
  };
  const turnsEnded = (id: IncidentId) =>
    waitFor('no turn to be under way', async () => {
      const rows = await slow.sql`
        SELECT FROM dbos.workflow_status
         WHERE status IN ('PENDING', 'ENQUEUED') AND queue_partition_key = ${id}`;
      return rows.length === 0 ? true : null;
    });

  test.each(['close', 'stop'] as const)(
    'ends at once when a person says %s, and goes no step further',
    async (verb) => {
      const before = { ...held };
      const id = await reading();
      const said = await slow.steering[verb](id, 'U0ANN', '');
      expect(said).toMatchObject({ ok: true });
      if (verb === 'close')
        expect(said).toMatchObject({ text: expect.stringContaining('I stop looking into it.') });
      await waitFor('the read to be cut off', async () => (held.cutOff > before.cutOff ? true : null));
      await turnsEnded(id);
      const record = await slow.records.load(id);
      expect(record?.incident.state).toBe(verb === 'close' ? 'resolved' : 'stopped');
      expect(held.after).toBe(before.after);
      expect(record?.toolCalls.map(({ state, code }) => [state, code])).toEqual([['failed', 'STOPPED']]);
      expect(record?.events.some(({ type }) => type === 'diagnosis.concluded')).toBe(false);
      if (verb === 'stop') await slow.steering.close(id, 'U0ANN', '');
    },
  );

  test('that its alert asks for after the close is not ended by it', async () => {
    const id = await reading();
    await slow.steering.close(id, 'U0ANN', '');
    const began = held.began;
    await slow.accept(boxAlert({ fingerprint }));
    await waitFor('it to look again', async () => (held.began > began ? true : null));
    expect((await slow.records.load(id))?.incident.state).toBe('diagnosing');
    await slow.steering.close(id, 'U0ANN', '');
    await turnsEnded(id);
  });
});

describe('a person says how bad it is', () => {
  const severityOf = async (id: IncidentId) => (await core.records.incident(id))?.severity;

  test('and neither a repeat nor a turn undoes it, until something worse is told than they saw', async () => {
    const { incident } = await waiting({ severity: 'error' });
    const { id } = incident;
    expect(await core.steering.setSeverity(id, 'U0ANN', 'warning')).toMatchObject({ ok: true });
    await fires({ severity: 'error' });
    expect(await severityOf(id)).toBe('warning');
    await core.steering.stop(id, 'U0ANN', '');
    await core.steering.resume(id, 'U0ANN');
    await until(id, 'awaiting_approval');
    expect(await severityOf(id)).toBe('warning');
    // A second word of a person holds as well, and what was seen before is still seen.
    await core.steering.setSeverity(id, 'U0BEN', 'info');
    await fires({ severity: 'error' });
    expect(await severityOf(id)).toBe('info');
    await fires({ severity: 'critical' });
    expect(await severityOf(id)).toBe('critical');
    const record = await core.records.load(id);
    expect(record && why(record)).toContain('<@U0ANN> changed its severity from error to warning');
  });

  test('once: said twice, and by two at the same moment, it is on record as it was', async () => {
    const { incident } = await waiting();
    const { id } = incident;
    await Promise.all([
      core.steering.setSeverity(id, 'U0ANN', 'warning'),
      core.steering.setSeverity(id, 'U0BEN', 'warning'),
    ]);
    expect(await core.steering.setSeverity(id, 'U0ANN', 'warning')).toEqual({
      ok: true,
      text: `${id} is warning already.`,
    });
    const record = await core.records.load(id);
    expect(record?.events.filter(({ type }) => type === 'severity.changed')).toHaveLength(1);
    await core.steering.close(id, 'U0ANN', '');
    expect(await core.steering.setSeverity(id, 'U0ANN', 'critical')).toMatchObject({ code: 'ENDED' });
  });

  test('never less than what rests under it', async () => {
    const { incident } = await waiting({ severity: 'error' });
    const { id } = incident;
    const part = await core.sql<{ id: IncidentId }>`
      INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations, merged_into)
      VALUES ('part', 'error', 'postgres', 'box', 'test', ${randomUUID()}, '{}', '{}', ${id}) RETURNING id`;
    expect(await core.steering.setSeverity(id, 'U0ANN', 'warning')).toMatchObject({ code: 'PART_IS_WORSE' });
    await core.sql`UPDATE incident SET source_resolved_at = now() WHERE id = ${part[0]!.id}`;
    expect(await core.steering.setSeverity(id, 'U0ANN', 'warning')).toMatchObject({ ok: true });
    await core.sql`UPDATE incident SET source_resolved_at = NULL WHERE id = ${part[0]!.id}`;
    await core.sql`UPDATE incident SET severity = sentry_worse_severity(severity, 'error') WHERE id = ${id}`;
    expect(await severityOf(id)).toBe('error');
  });
});
