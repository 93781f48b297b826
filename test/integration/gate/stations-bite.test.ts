import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { IncidentId } from '../../../src/domain/ids.ts';
import type { Json } from '../../../src/domain/tool-call.ts';
import { approvalChecks } from '../../../src/gate/approval-checks.ts';
import { executionParts } from '../../../src/gate/execute.ts';
import { createGate, entranceStations, type Gate, type GateParts } from '../../../src/gate/gate.ts';
import type { GateDeps } from '../../../src/gate/gate-deps.ts';
import type { Station } from '../../../src/gate/station.ts';
import type { AuditLog } from '../../../src/security/audit-chain.ts';
import {
  approved,
  auditBodies,
  createRig,
  execute,
  never,
  noHooks,
  openIncident,
  propose,
  type Rig,
  SECRET,
  typed,
} from './rig.ts';

/**
 * For every station a play that it stops, and that comes through a gate without it: so these plays are known to test what
 * they say. A station that fills in the tool or the target is replaced by one that fills it in and checks nothing.
 */
interface Play {
  readonly station: string;
  /** The gate with that one part taken out. */
  readonly broken: (deps: GateDeps) => Gate;
  /** Whether the attack came through. */
  readonly play: (gate: (deps: GateDeps) => Gate) => Promise<boolean>;
}

let rig: Rig;
let incidentId: IncidentId;
beforeAll(async () => {
  rig = await createRig();
});
beforeEach(async () => {
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
  Object.assign(rig.identity, { systemIdentifier: '1', timelineId: 1 });
  rig.odd.read = () => ({ text: 'fine', data: null });
  incidentId = await openIncident(rig);
});
afterEach(async () => {
  await rig.core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
  await rig.core.sql`UPDATE switch SET stopped = false`;
});
afterAll(() => rig.stop());

const whole = (deps: GateDeps): Gate => createGate(deps);
const pass: Station = () => undefined;
const withStation =
  (number: number, make: (deps: GateDeps) => Station) =>
  (deps: GateDeps): Gate =>
    createGate(deps, { stations: entranceStations(deps).with(number - 1, make(deps)) });
const without =
  (parts: Partial<GateParts>) =>
  (deps: GateDeps): Gate =>
    createGate(deps, parts);
const unchecked = (name: keyof typeof approvalChecks) =>
  without({ checks: { ...approvalChecks, [name]: () => undefined } });
const deps = (): GateDeps => rig.core.gateDeps;
const mint = (role: 'surgeon' | 'detective' | 'triage', targets = ['box']) =>
  rig.core.vault.mint({ role, incidentId, targets });

async function comesThrough(
  gate: Gate,
  credential: ReturnType<typeof mint>,
  tool: string,
  input: Json,
  target = 'box',
) {
  const result = await gate.call(credential, { tool, target, input }, { signal: never });
  return result.kind === 'ok' || result.kind === 'proposed';
}

/** An audit log that loses what matches, as if it could not be written and nobody looked. */
function deaf(audit: AuditLog, kind: string, loud: boolean): AuditLog {
  return {
    ...audit,
    append: async (entry) => {
      if (entry.kind !== kind) return audit.append(entry);
      if (loud) throw new Error('the disk is full');
    },
  };
}

const plays: readonly Play[] = [
  {
    station: '1 the input parses',
    broken: withStation(1, ({ registry }) => (passage) => {
      const tool = registry.get(passage.request.tool);
      if (tool) passage.tool = tool;
      passage.input = passage.request.input;
      return undefined;
    }),
    play: async (gate) => comesThrough(gate(deps()), mint('surgeon'), 'box_mend', { how: 'a', force: true }),
  },
  {
    station: '2 role',
    broken: withStation(2, () => pass),
    play: async (gate) => comesThrough(gate(deps()), mint('triage'), 'box_mend', { how: 'a' }),
  },
  {
    station: '3 credential',
    broken: withStation(3, () => pass),
    play: async (gate) => comesThrough(gate(deps()), { ...mint('detective') }, 'box_state', {}),
  },
  {
    station: '4 budget',
    broken: withStation(4, () => pass),
    async play(gate) {
      await rig.core.sql`
        INSERT INTO throttle (key, starts, counts)
        VALUES (${`incident:${incidentId}`}, ARRAY[extract(epoch FROM clock_timestamp())::float8], '{300}')
        ON CONFLICT (key) DO NOTHING`;
      return comesThrough(gate(deps()), mint('detective'), 'box_state', {});
    },
  },
  {
    station: '5 target in scope',
    broken: withStation(5, ({ targets }) => (passage) => {
      const target = targets.get(passage.request.target ?? '');
      if (target) passage.target = target;
      return undefined;
    }),
    play: async (gate) => comesThrough(gate(deps()), mint('detective'), 'box_state', {}, 'other'),
  },
  {
    station: '6 input rules',
    broken: withStation(6, () => pass),
    play: async (gate) =>
      comesThrough(gate(deps()), mint('surgeon'), 'box_mend', { how: 'safe\u202e elif -mr' }),
  },
  {
    station: '7 toolset',
    broken: withStation(7, () => pass),
    async play(gate) {
      const { registry } = deps();
      const bound = {
        get: (name: string) => {
          const tool = registry.get(name);
          return tool && name === 'box_state' ? { ...tool, toolset: 'memory' } : tool;
        },
      };
      return comesThrough(gate({ ...deps(), registry: bound }), mint('detective'), 'box_state', {});
    },
  },
  {
    station: '8 audit before',
    broken: (given) => createGate({ ...given, audit: deaf(rig.core.audit, 'gate.intent', false) }),
    async play(gate) {
      const action = await approved(rig);
      await gate({ ...deps(), audit: deaf(rig.core.audit, 'gate.intent', true) })
        .execute(action, noHooks, never)
        .catch(() => undefined);
      return rig.machine.effects > 0;
    },
  },
  {
    station: '9 an active tool is only proposed',
    // Taken for a read tool, its run is called at once: what "becomes a proposal" stops.
    broken: (given) =>
      createGate(
        {
          ...given,
          registry: {
            get: (name) => {
              const tool = given.registry.get(name);
              return tool ? ({ ...tool, kind: 'read' } as never) : undefined;
            },
          },
        },
        {
          stations: entranceStations(given)
            .with(1, pass)
            .with(0, (passage) => {
              const tool = given.registry.get(passage.request.tool);
              if (tool) passage.tool = { ...tool, kind: 'read' } as never;
              passage.input = passage.request.input;
              return undefined;
            }),
        },
      ),
    async play(gate) {
      await comesThrough(gate(deps()), mint('surgeon'), 'box_mend', { how: 'a' });
      return rig.machine.effects > 0;
    },
  },
  {
    station: '9 mode and STOP_SENTRY',
    broken: unchecked('mayChange'),
    async play(gate) {
      const action = await approved(rig);
      await typed(rig, `UPDATE action SET audit_only = true WHERE id = '${action.id}'`);
      const { killSwitch } = deps();
      // The claim repeats it; without its repetition too, as a ledger of another day might.
      const ran = await gate({ ...deps(), killSwitch }).execute(action, noHooks, never);
      return ran.kind !== 'not_run' || ran.code !== 'AUDIT_ONLY';
    },
  },
  {
    station: '9 the switch in the database',
    broken: (given) =>
      createGate({ ...given, killSwitch: { ...given.killSwitch, lockRows: async () => undefined } }),
    async play(gate) {
      const action = await approved(rig);
      await typed(
        rig,
        `INSERT INTO switch (scope, stopped) VALUES ('target:box', true)
                          ON CONFLICT (scope) DO UPDATE SET stopped = true`,
      );
      await execute(rig, action.id, gate(deps()));
      return rig.machine.effects > 0;
    },
  },
  {
    station: '9 hash equal',
    broken: unchecked('samePlan'),
    async play(gate) {
      const action = await approved(rig);
      await typed(rig, `UPDATE action SET input = '{"how": "harder"}' WHERE id = '${action.id}'`);
      await execute(rig, action.id, gate(deps()));
      return rig.machine.effects > 0;
    },
  },
  {
    station: '9 approved by a person, by the audit log',
    broken: unchecked('decided'),
    async play(gate) {
      const action = await propose(rig);
      await typed(
        rig,
        `UPDATE action SET state = 'approved', decided_by = 'UONCALL' WHERE id = '${action.id}'`,
      );
      await execute(rig, action.id, gate(deps()));
      return rig.machine.effects > 0;
    },
  },
  {
    station: '9 the same server',
    broken: unchecked('sameServer'),
    async play(gate) {
      const action = await approved(rig);
      rig.identity.timelineId = 2;
      await execute(rig, action.id, gate(deps()));
      return rig.machine.effects > 0;
    },
  },
  {
    station: '9 state unchanged',
    broken: unchecked('sameState'),
    async play(gate) {
      const action = await approved(rig);
      rig.machine.generation = 2;
      await execute(rig, action.id, gate(deps()));
      return rig.machine.effects > 0;
    },
  },
  {
    station: '9 not expired, and claimed in one transaction',
    broken: without({
      checks: { ...approvalChecks, inTime: async () => undefined },
      ledger: {
        ...executionParts.ledger,
        claim: async () => ({ kind: 'claimed', begunAt: performance.now() }),
      },
    }),
    async play(gate) {
      const action = await approved(rig);
      await typed(
        rig,
        `UPDATE action SET expires_at = now() - interval '1 second' WHERE id = '${action.id}'`,
      );
      await execute(rig, action.id, gate(deps()));
      return rig.machine.effects > 0;
    },
  },
  {
    station: '9 claimed once',
    broken: without({
      ledger: {
        ...executionParts.ledger,
        claim: async () => ({ kind: 'claimed', begunAt: performance.now() }),
      },
    }),
    async play(gate) {
      const action = await approved(rig);
      await Promise.all(Array.from({ length: 5 }, () => execute(rig, action.id, gate(deps()))));
      return rig.machine.effects > 1;
    },
  },
  {
    station: '11 redaction, in the record and to the caller',
    broken: (given) => createGate({ ...given, redact: (text) => text, redactJson: (value) => value }),
    async play(gate) {
      rig.odd.read = () => ({ text: `the token is ${SECRET}`, data: { token: SECRET } });
      const result = await gate(deps()).call(
        mint('detective'),
        { tool: 'odd_read', target: 'box', input: { note: SECRET } },
        { signal: never, purpose: `look for ${SECRET}` },
      );
      const record = await rig.core.records.load(incidentId);
      return JSON.stringify([result, record, await auditBodies(rig)]).includes(SECRET);
    },
  },
  {
    station: '12 audit after',
    broken: (given) => createGate({ ...given, audit: deaf(rig.core.audit, 'gate.outcome', false) }),
    async play(gate) {
      const result = await gate(deps()).call(
        mint('detective'),
        { tool: 'box_state', target: 'box', input: {} },
        { signal: never },
      );
      const entries = await auditBodies(rig);
      return !entries.some(
        (entry) =>
          entry['kind'] === 'gate.outcome' &&
          (entry['details'] as { toolCall?: string }).toolCall === result.toolCallId,
      );
    },
  },
];

describe.each(plays)('station $station', ({ play, broken }) => {
  test('stops the play', async () => {
    expect(await play(whole)).toBe(false);
  });
  test('and without it the play comes through', async () => {
    // Plays that exchange a part of the dependencies exchange it before the station is taken out.
    expect(await play((given) => broken(given))).toBe(true);
  });
});

test('every station of the entrance has its play', () => {
  const named = new Set(plays.map(({ station }) => station.split(' ')[0]));
  expect([...named]).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '11', '12']);
  expect(entranceStations(deps())).toHaveLength(7);
});

test('every check of an approval has its play', () => {
  expect(Object.keys(approvalChecks)).toEqual([
    'mayChange',
    'inTime',
    'samePlan',
    'decided',
    'sameServer',
    'sameState',
  ]);
});

test('STOP_SENTRY stops what was approved before it', async () => {
  const action = await approved(rig);
  writeFileSync(join(rig.dataDir, 'STOP_SENTRY'), '');
  const { rmSync } = await import('node:fs');
  try {
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'STOPPED' });
  } finally {
    rmSync(join(rig.dataDir, 'STOP_SENTRY'));
  }
  expect(rig.machine.effects).toBe(0);
});
