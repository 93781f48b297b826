import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createGate } from '../../../src/actions/gate.ts';
import { OpsError } from '../../../src/core/errors.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import type { AuditEntry, AuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { directoryOf } from '../../support/directory.ts';
import {
  actionOf,
  approved,
  auditBodies,
  call,
  createRig,
  execute,
  mend,
  never,
  noHooks,
  openIncident,
  propose,
  type Rig,
  SECRET,
} from './rig.ts';

let rig: Rig;
let incidentId: IncidentId;
beforeAll(async () => {
  rig = await createRig();
});
beforeEach(async () => {
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
  rig.odd.read = () => ({ text: 'fine', data: null });
  rig.odd.look = () => 'cannot_tell';
  incidentId = await openIncident(rig);
});
afterEach(async () => {
  await rig.core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
});
afterAll(() => rig.stop());

const readOddly = (input: unknown = {}) =>
  call(rig, 'detective', incidentId, { tool: 'odd_read', target: 'box', input: input as Json });

function nested(depth: number): Json {
  let value: Json = 'bottom';
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe('an input that is out of measure is refused, and is on record all the same', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const inputs: Readonly<Record<string, readonly [unknown, string]>> = {
    'NUL in a text': [{ note: 'a\u0000b' }, 'INPUT_HIDDEN_CHARACTERS'],
    'NUL in a key': [{ 'a\u0000b': 1 }, 'INPUT_HIDDEN_CHARACTERS'],
    'half a surrogate pair': [{ note: 'a\ud800b' }, 'INPUT_HIDDEN_CHARACTERS'],
    'a text that runs backwards': [{ note: 'a\u202eb' }, 'INPUT_HIDDEN_CHARACTERS'],
    'characters that are not drawn': [{ note: 'drop\u2060 table' }, 'INPUT_HIDDEN_CHARACTERS'],
    'a soft hyphen': [{ note: 'sa\u00adfe' }, 'INPUT_HIDDEN_CHARACTERS'],
    'tag characters': [{ note: 'a\u{e0041}' }, 'INPUT_HIDDEN_CHARACTERS'],
    'a Hangul filler': [{ note: '\u3164' }, 'INPUT_HIDDEN_CHARACTERS'],
    'a line separator': [{ note: 'a\u2028b' }, 'INPUT_HIDDEN_CHARACTERS'],
    'nine levels': [nested(9), 'INPUT_TOO_DEEP'],
    'a hundred thousand levels': [nested(100_000), 'INPUT_TOO_DEEP'],
    'a cycle': [cycle, 'INPUT_TOO_DEEP'],
    'ten million characters': [{ note: 'x'.repeat(10_000_000) }, 'INPUT_TOO_LONG'],
    'a hundred thousand values': [Array.from({ length: 100_000 }, () => 0), 'INPUT_TOO_LONG'],
    'fifty long texts': [Array.from({ length: 50 }, () => 'x'.repeat(9_000)), 'INPUT_TOO_LONG'],
    'a field called __proto__': [JSON.parse('{"__proto__": {"polluted": true}}'), 'INPUT_NOT_JSON'],
    'the same further down': [JSON.parse('{"a": [{"__proto__": 1}]}'), 'INPUT_NOT_JSON'],
    'a function': [{ run: () => 'x' }, 'INPUT_NOT_JSON'],
    'a date': [{ at: new Date(0) }, 'INPUT_NOT_JSON'],
    'a big integer': [{ n: 10n }, 'INPUT_NOT_JSON'],
    'no number': [{ n: Number.NaN }, 'INPUT_NOT_JSON'],
    'a getter that throws': [
      {
        get n() {
          throw new Error('no');
        },
      },
      'INPUT_NOT_JSON',
    ],
    'a list with holes': [Object.assign([], { length: 4_000_000_000 }), 'INPUT_NOT_JSON'],
  };
  test.each(Object.entries(inputs))('%s', async (_, [input, code]) => {
    const result = await readOddly(input);
    expect(result).toMatchObject({ kind: 'refused', code });
    expect(await rig.core.records.toolCall(result.toolCallId)).toMatchObject({ state: 'refused', code });
    expect((await auditBodies(rig)).findLast((body) => body['kind'] === 'gate.refused')).toMatchObject({
      kind: 'gate.refused',
      details: { code },
    });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('a tool’s or a target’s name is no way around it', async () => {
    const tool = `box ${SECRET.slice(0, 3)}\u0000${SECRET.slice(3)} ${'x'.repeat(1_000_000)}`;
    const result = await call(rig, 'detective', incidentId, { tool, target: tool, input: {} });
    expect(result).toMatchObject({ kind: 'refused', code: 'UNKNOWN_TOOL' });
    const record = JSON.stringify(await rig.core.records.toolCall(result.toolCallId));
    expect(record.includes(SECRET)).toBe(false);
    expect(record.length).toBeLessThan(2_000);
  });

  test('an input that changes while it waits is read once', async () => {
    let reads = 0;
    const input = {
      get how() {
        reads += 1;
        return reads === 1 ? 'gently' : 'rm -rf';
      },
    };
    const action = await propose(rig, { tool: 'box_mend', target: 'box', input });
    expect(action).toMatchObject({ command: 'mend --how gently', input: { how: 'gently' } });
    expect(reads).toBe(1);
  });
});

describe('a read tool that misbehaves', () => {
  const endings: Readonly<Record<string, readonly [() => unknown, object]>> = {
    'throws null': [
      () => {
        throw null;
      },
      { kind: 'failed', code: 'TOOL_FAILED' },
    ],
    'throws a text': [
      () => {
        throw 'no';
      },
      { kind: 'failed', reason: 'no' },
    ],
    'throws what cannot be put into words': [
      () => {
        throw Object.create(null);
      },
      { kind: 'failed' },
    ],
    'throws an error whose message throws': [
      () => {
        throw Object.defineProperty(new Error(), 'message', {
          get: () => {
            throw new Error('x');
          },
        });
      },
      { kind: 'failed' },
    ],
    'throws an error whose message is none': [
      () => {
        throw Object.assign(new Error(), { message: { toString: () => 'odd' } });
      },
      { kind: 'failed', reason: 'odd' },
    ],
    'rejects with a NUL in its message': [
      () => Promise.reject(new Error('a\u0000b\ud800')),
      { kind: 'failed', reason: 'ab\ufffd' },
    ],
    'never ends': [() => new Promise(() => undefined), { kind: 'failed', code: 'TIMEOUT' }],
    'answers nothing': [() => undefined, { kind: 'failed' }],
    'answers a number': [
      () => Promise.resolve({ text: 7, data: null }),
      { kind: 'failed', code: 'TOOL_OUTPUT' },
    ],
    'answers what refers to itself': [
      () => {
        const data: Record<string, unknown> = {};
        data['self'] = data;
        return Promise.resolve({ text: 'x', data });
      },
      { kind: 'failed', code: 'SCREEN' },
    ],
  };
  test.each(Object.entries(endings))('%s: an ending like any other', async (_, [read, expected]) => {
    rig.odd.read = read;
    const result = await readOddly();
    expect(result).toMatchObject(expected);
    expect(await rig.core.records.toolCall(result.toolCallId)).toMatchObject({ state: 'failed' });
  });

  test('answers binary: what the database can keep is kept', async () => {
    rig.odd.read = async () => ({
      text: '\u0000\u0001ELF\ud800\u0000',
      data: { raw: '\u0000\udfff', 'k\u0000': 1 },
    });
    const result = await readOddly();
    expect(result).toMatchObject({ kind: 'ok', text: '\u0001ELF\ufffd', data: { raw: '\ufffd', k: 1 } });
    expect(await rig.core.records.toolCall(result.toolCallId)).toMatchObject({ output: '\u0001ELF\ufffd' });
  });

  test('answers a secret with a NUL in its middle', async () => {
    const hidden = `${SECRET.slice(0, 3)}\u0000${SECRET.slice(3)}`;
    rig.odd.read = async () => ({ text: `token ${hidden}`, data: { token: hidden } });
    const result = await readOddly();
    expect(result).toMatchObject({ kind: 'ok' });
    expect(JSON.stringify([result, await rig.core.records.load(incidentId)]).includes(SECRET)).toBe(false);
  });

  test('answers ten million characters: what is kept has an end, says so, and holds no half secret', {
    timeout: 120_000,
  }, async () => {
    const line = `${'some words of a log line '.repeat(4)}\n`;
    // A secret across every place where a cut could fall.
    const text = line.repeat(2_000) + `token ${SECRET}\n`.repeat(5_000) + line.repeat(90_000);
    rig.odd.read = async () => ({ text, data: null });
    const result = await readOddly();
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    expect(result.truncated).toBe(true);
    expect(result.text.length).toBeLessThan(210_000);
    expect(result.text).toMatch(/… cut: \d{7,} more characters$/);
    expect(result.text.includes('xoxb-')).toBe(false);
  });

  test('answers data without end: the text is kept, the data is not', async () => {
    rig.odd.read = async () => ({
      text: 'short',
      data: Array.from({ length: 300 }, () => 'word '.repeat(2_000)),
    });
    expect(await readOddly()).toMatchObject({ kind: 'ok', text: 'short', data: null, truncated: true });
  });

  test('throws a message without end, with a secret in it', async () => {
    rig.odd.read = () => {
      throw new OpsError('BROKEN', `${SECRET} ${'long words '.repeat(100_000)}`, { hint: `use ${SECRET}` });
    };
    const result = await readOddly();
    if (result.kind !== 'failed') throw new Error('did not fail');
    expect(result.reason.length).toBeLessThanOrEqual(4_000);
    expect(
      JSON.stringify([result, await rig.core.records.load(incidentId), await auditBodies(rig)]).includes(
        SECRET,
      ),
    ).toBe(false);
  });
});

test('what cannot be screened for secrets is withheld', async () => {
  const fails = (): never => {
    throw new Error('the screen is broken');
  };
  const gate = createGate({ ...rig.core.gateDeps, redact: fails, redactJson: fails });
  rig.odd.read = async () => ({ text: `a ${SECRET}`, data: SECRET });
  const result = await call(
    rig,
    'detective',
    incidentId,
    { tool: 'odd_read', target: 'box', input: { a: SECRET } },
    gate,
  );
  expect(result).toMatchObject({ kind: 'failed', code: 'SCREEN' });
  expect(
    JSON.stringify([result, await rig.core.records.load(incidentId), await auditBodies(rig)]).includes(
      SECRET,
    ),
  ).toBe(false);
  expect(await call(rig, 'surgeon', incidentId, mend('a'), gate)).toMatchObject({ kind: 'failed' });
  expect((await rig.core.records.load(incidentId))?.actions).toEqual([]);
});

describe('what is proposed can be shown whole', () => {
  test('no secret in its arguments, wherever it stands', async () => {
    for (const input of [{ how: SECRET }, { how: `a ${SECRET} b` }])
      expect(
        await call(rig, 'surgeon', incidentId, { tool: 'box_mend', target: 'box', input }),
      ).toMatchObject({ kind: 'refused', code: 'SECRET_IN_PLAN' });
    for (const input of [{ deep: [{ password: 'hunter2-Is-A-Secret!9' }] }, { [SECRET]: 1 }])
      expect(
        await call(rig, 'surgeon', incidentId, { tool: 'odd_mend', target: 'box', input }),
      ).toMatchObject({ kind: 'refused', code: 'SECRET_IN_PLAN' });
    expect(JSON.stringify(await rig.core.records.load(incidentId)).includes(SECRET)).toBe(false);
  });

  test('a reason that hides, shouts or leaks is tamed', async () => {
    const why = `It helps\u202e. ${SECRET} ${'really '.repeat(10_000)}`;
    const action = await propose(
      rig,
      { ...mend('a'), proposal: { why, runbookId: null, verify: null } },
      incidentId,
    );
    expect(action.why.length).toBeLessThanOrEqual(4_000);
    expect(action.why).not.toContain('\u202e');
    expect(action.why).not.toContain(SECRET);
  });

  test('a plan to verify with a secret in it is none', async () => {
    const verify = {
      steps: [{ tool: 'box_state', input: { token: SECRET }, measure: { name: 'broken' }, says: 'x' }],
      holdMs: 1,
      timeoutMs: 1,
    };
    expect(
      await call(rig, 'surgeon', incidentId, {
        ...mend('a'),
        proposal: { why: '', runbookId: null, verify },
      }),
    ).toMatchObject({ code: 'SECRET_IN_PLAN' });
  });

  test('two calls at once make one proposal', async () => {
    const results = await Promise.all(
      ['a', 'b', 'a'].map((how) => call(rig, 'surgeon', incidentId, mend(how))),
    );
    expect((await rig.core.records.load(incidentId))?.actions).toHaveLength(1);
    expect(
      results.every(
        (result) =>
          result.kind === 'proposed' || (result.kind === 'refused' && result.code === 'ALREADY_PROPOSED'),
      ),
    ).toBe(true);
  });

  test('a proposal that comes too late for its caller is none', async () => {
    const { registry } = rig.core.gateDeps;
    const tool = registry.get('box_mend');
    if (tool?.kind !== 'active') throw new Error('no tool');
    const slow = {
      ...tool,
      timeoutMs: 100,
      preflight: async (...args: Parameters<typeof tool.preflight>) => {
        await new Promise((done) => setTimeout(done, 400));
        return tool.preflight(...args);
      },
    };
    const gate = createGate({ ...rig.core.gateDeps, registry: { get: () => slow } });
    expect(await call(rig, 'surgeon', incidentId, mend('a'), gate)).toMatchObject({
      kind: 'failed',
      code: 'TIMEOUT',
    });
    await new Promise((done) => setTimeout(done, 800));
    expect((await rig.core.records.load(incidentId))?.actions).toEqual([]);
  });
});

describe('an approved tool that misbehaves is never taken for more than it can be', () => {
  const ends: Readonly<Record<string, readonly [() => unknown, string]>> = {
    'throws null': [
      () => {
        throw null;
      },
      'unknown',
    ],
    'throws a text': [
      () => {
        throw 'no';
      },
      'unknown',
    ],
    'throws an error of its own': [() => Promise.reject(new Error('socket hang up')), 'unknown'],
    'says that nothing happened': [
      () => Promise.reject(new OpsError('GONE', 'It is gone.', { hint: 'x' })),
      'failed',
    ],
    'never ends, and does not listen': [() => new Promise(() => undefined), 'unknown'],
    'answers nothing': [() => undefined, 'unknown'],
    'calls itself approved': [async () => ({ kind: 'approved', text: 'again' }), 'unknown'],
    'calls itself proposed': [async () => ({ kind: 'proposed', text: 'again' }), 'unknown'],
    'gives no text': [async () => ({ kind: 'succeeded' }), 'unknown'],
    'leaks a secret': [async () => ({ kind: 'succeeded', text: `with ${SECRET}` }), 'succeeded'],
    shouts: [async () => ({ kind: 'succeeded', text: 'words '.repeat(1_000_000) }), 'succeeded'],
    'answers binary': [async () => ({ kind: 'succeeded', text: '\u0000\ud800' }), 'succeeded'],
  };
  test.each(Object.entries(ends))('%s', async (_, [run, state]) => {
    let runs = 0;
    rig.odd.mend = () => {
      runs += 1;
      return run();
    };
    const action = await approved(rig, { tool: 'odd_mend', target: 'box', input: { n: 1 } });
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran', outcome: { kind: state } });
    const ended = await actionOf(rig, action.id);
    expect(ended.state).toBe(state);
    expect(ended.outcome?.length).toBeLessThanOrEqual(4_000);
    expect(
      JSON.stringify([
        ended,
        await rig.core.records.load(action.incidentId),
        await auditBodies(rig),
      ]).includes(SECRET),
    ).toBe(false);
    await execute(rig, action.id);
    expect(runs).toBe(1);
  });

  test('what is unknown is looked at only after its last moment, and never by another server', async () => {
    let looks = 0;
    rig.odd.mend = () => new Promise(() => undefined);
    rig.odd.look = () => {
      looks += 1;
      return Promise.resolve('not_done');
    };
    const action = await approved(rig, { tool: 'odd_mend', target: 'box', input: { n: 1 } });
    await execute(rig, action.id);
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'later' });
    expect(looks).toBe(0);
    await rig.core.sql`UPDATE action SET done_by = clock_timestamp() WHERE id = ${action.id}`;
    rig.identity.timelineId = 2;
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran', outcome: { kind: 'unknown' } });
    expect(looks).toBe(0);
    rig.identity.timelineId = 1;
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran', outcome: { kind: 'failed' } });
    expect(looks).toBe(1);
  });

  test('what is unknown keeps every other action off its target', async () => {
    rig.odd.mend = () => undefined;
    const first = await approved(rig, { tool: 'odd_mend', target: 'box', input: { n: 1 } });
    const second = await approved(rig);
    expect(await execute(rig, first.id)).toMatchObject({ outcome: { kind: 'unknown' } });
    expect(await execute(rig, second.id)).toMatchObject({ kind: 'later' });
    expect(rig.machine.effects).toBe(0);
  });
});

describe('a database that is away', () => {
  const away = (): Error =>
    Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
  /** The record, which refuses a statement that names this table. */
  const recordWithout = (table: string): typeof rig.core.sql =>
    new Proxy(rig.core.sql, {
      apply: (sql, self, given: Parameters<typeof rig.core.sql>) =>
        given[0].join('?').includes(table) ? Promise.reject(away()) : Reflect.apply(sql, self, given),
    });

  test('is the tool’s where the tool or its system throws it: the read failed', async () => {
    rig.odd.read = () => Promise.reject(away());
    expect(await readOddly()).toMatchObject({ kind: 'failed', code: 'TOOL_FAILED' });
    const gate = createGate({ ...rig.core.gateDeps, identity: () => Promise.reject(away()) });
    expect(await call(rig, 'surgeon', incidentId, mend('way'), gate)).toMatchObject({ kind: 'failed' });
  });

  test.each(['target_identity', 'FROM action'])(
    'is Sentry’s own where the record of %s is what does not answer: nothing is said to have failed',
    async (table) => {
      const gate = createGate({ ...rig.core.gateDeps, sql: recordWithout(table) });
      await expect(call(rig, 'surgeon', incidentId, mend('way'), gate)).rejects.toMatchObject({
        code: 'NOT_RECORDED',
        retryable: true,
      });
    },
  );

  test.each([undefined, null, '', 'x'.repeat(3_000), 'a\u0000b'])(
    'a system that calls itself %s has failed: no turn is made again for ever for it',
    async (systemIdentifier) => {
      const found = { ...(await rig.core.gateDeps.identity('box')), systemIdentifier } as never;
      const gate = createGate({ ...rig.core.gateDeps, identity: async () => found });
      expect(await call(rig, 'surgeon', incidentId, mend('way'), gate)).toMatchObject({ kind: 'failed' });
    },
  );

  test('a tool that says it is not recorded has failed', async () => {
    rig.odd.read = () => Promise.reject(new OpsError('NOT_RECORDED', 'x', { hint: 'x', retryable: true }));
    expect(await readOddly()).toMatchObject({ kind: 'failed', code: 'TOOL_FAILED' });
  });

  test('does not loosen a criterion: it stays with the system that was looked at', async () => {
    const gate = createGate({ ...rig.core.gateDeps, sql: recordWithout('target_identity') });
    const plan = { steps: [], holdMs: 1, timeoutMs: 1 };
    const step = { tool: 'box_state', input: {}, target: 'box' } as never;
    await expect(gate.bindSystems('box', { ...plan, steps: [step] })).rejects.toMatchObject({
      code: 'NOT_RECORDED',
    });
  });
});

describe('what cannot be audited is not done', () => {
  const failing = (when: (entry: AuditEntry) => boolean): AuditLog => ({
    ...rig.core.audit,
    append: (entry) =>
      when(entry) ? Promise.reject(new Error('the disk is full')) : rig.core.audit.append(entry),
    appendIn: (tx, entry) =>
      when(entry) ? Promise.reject(new Error('the disk is full')) : rig.core.audit.appendIn(tx, entry),
  });

  test('no tool runs, read or active, when its intent cannot be written', async () => {
    const gate = createGate({ ...rig.core.gateDeps, audit: failing(({ kind }) => kind === 'gate.intent') });
    let reads = 0;
    rig.odd.read = () => {
      reads += 1;
      return { text: '', data: null };
    };
    await expect(
      call(rig, 'detective', incidentId, { tool: 'odd_read', target: 'box', input: {} }, gate),
    ).rejects.toMatchObject({ code: 'NOT_RECORDED', retryable: true });
    expect(reads).toBe(0);
    const action = await approved(rig);
    await expect(gate.execute(action, noHooks, never)).rejects.toThrow('the disk is full');
    expect(rig.machine.effects).toBe(0);
    expect((await actionOf(rig, action.id)).state).toBe('approved');
  });

  test('an answer that cannot be put on record is no answer', async () => {
    const gate = createGate({ ...rig.core.gateDeps, audit: failing(({ kind }) => kind === 'gate.outcome') });
    await expect(
      call(rig, 'detective', incidentId, { tool: 'box_state', target: 'box', input: {} }, gate),
    ).rejects.toMatchObject({ code: 'NOT_RECORDED', retryable: true });
  });

  test('an outcome that cannot be audited is not written either: it is settled by looking', async () => {
    const gate = createGate({ ...rig.core.gateDeps, audit: failing(({ kind }) => kind === 'gate.outcome') });
    const action = await approved(rig);
    await expect(gate.execute(action, noHooks, never)).rejects.toThrow('the disk is full');
    expect(rig.machine.effects).toBe(1);
    expect((await actionOf(rig, action.id)).state).toBe('started');
    await rig.core.sql`UPDATE action SET done_by = clock_timestamp() WHERE id = ${action.id}`;
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran', outcome: { kind: 'succeeded' } });
    expect(rig.machine.effects).toBe(1);
  });

  test('no approval is given', async () => {
    const { createApprovals } = await import('../../../src/actions/approvals/approvals.ts');
    const { createApprovalPolicy } = await import('../../../src/actions/policy/policy.ts');
    const policy = createApprovalPolicy({
      approvers: [{ kind: 'user', id: 'UONCALL' }],
      admins: [],
      directory: directoryOf(),
    });
    const { sql, records } = rig.core;
    const approvals = createApprovals({
      sql,
      records,
      policy,
      audit: failing(() => true),
      seal: rig.core.seal,
    });
    const action = await propose(rig, mend('a'), incidentId);
    await expect(
      approvals.decide({
        actionId: action.id,
        planHash: action.planHash,
        by: 'UONCALL',
        decision: 'approve',
        reason: '',
        anotherWay: false,
      }),
    ).rejects.toThrow('the disk is full');
    expect((await actionOf(rig, action.id)).state).toBe('proposed');
  });
});

test('three hundred and fifty calls at once are three hundred', async () => {
  const results = await Promise.all(Array.from({ length: 350 }, () => readOddly()));
  expect(results.filter((result) => result.kind === 'ok').length).toBeLessThanOrEqual(300);
  expect(
    results.filter((result) => result.kind === 'refused' && result.code === 'TOO_MANY_CALLS').length,
  ).toBeGreaterThanOrEqual(50);
});

test('what no card can show to its end is not even proposed: nobody could have read it [F4]', async () => {
  const harmless = `way ${'.'.repeat(2_900)}`;
  expect(await call(rig, 'surgeon', incidentId, mend(`${harmless} --and-then-wipe`))).toMatchObject({
    kind: 'refused',
    code: 'COMMAND_TOO_LONG',
  });
  // Nor as a later step of a plan.
  expect(
    await call(rig, 'surgeon', incidentId, {
      ...mend('first'),
      proposal: {
        why: 'It helps.',
        runbookId: null,
        verify: null,
        andThen: [{ tool: 'box_mend', input: { how: harmless }, why: 'And this.' }],
      },
    }),
  ).toMatchObject({ kind: 'refused', code: 'COMMAND_TOO_LONG' });
  expect(await call(rig, 'surgeon', incidentId, mend('w'.repeat(2_000)))).toMatchObject({ kind: 'proposed' });
});
