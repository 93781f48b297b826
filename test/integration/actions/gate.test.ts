import { createHash, randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mayUse } from '../../../src/actions/access.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { type Role, roles } from '../../../src/core/incident.ts';
import type { Json, ToolCallRequest } from '../../../src/core/tool-call.ts';
import { redact, redactJson } from '../../../src/safety/screen/redact.ts';
import { type Credential, openCredentialVault } from '../../../src/safety/vault/credentials.ts';
import { defineReadTool } from '../../../src/tools/define.ts';
import { boxAlert, boxTools, type Core, createCore } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import type { Row } from '../../support/typed.ts';

const secret = ['xoxb', '1234567890', 'abcdefghijklmnop'].join('-');
const dataDir = scratchDir();
const stopFile = join(dataDir, 'STOP_SENTRY');
const machine = { broken: true, generation: 1, effects: 0, helps: true };
const tools = [
  ...boxTools(machine),
  defineReadTool({
    name: 'box_leak',
    description: 'Says a secret.',
    kind: 'read',
    domain: 'postgres',
    input: z.strictObject({ note: z.string().optional() }),
    timeoutMs: 2_000,
    run: async () => ({ text: `token is ${secret}`, data: { says: secret } }),
  }),
  defineReadTool({
    name: 'box_probe',
    description: 'Loads the box.',
    kind: 'diagnostic',
    domain: 'postgres',
    input: z.strictObject({}),
    timeoutMs: 2_000,
    run: async () => ({ text: 'probed', data: null }),
  }),
  defineReadTool({
    name: 'memory_note',
    description: 'Writes.',
    toolset: 'memory',
    kind: 'read',
    domain: 'any',
    input: z.strictObject({}),
    timeoutMs: 2_000,
    run: async () => ({ text: 'noted', data: null }),
  }),
  defineReadTool({
    name: 'pod_logs',
    description: 'For another domain.',
    kind: 'read',
    domain: 'kubernetes',
    input: z.strictObject({}),
    timeoutMs: 2_000,
    run: async () => ({ text: '', data: null }),
  }),
];

let database: ScratchDatabase;
let core: Core;
let incidentId: IncidentId;
const signal = new AbortController().signal;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({
    url: database.url,
    tools,
    dataDir,
    gate: { redact, redactJson: (value: Json) => redactJson(value) },
  });
  incidentId = await newIncident();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});

async function newIncident(): Promise<IncidentId> {
  const { incidentId: id } = await core.accept(boxAlert());
  if (id === null) throw new Error('no incident');
  return id;
}

const mint = (role: Role, targets: readonly string[] = ['box']): Credential =>
  core.vault.mint({ role, incidentId, targets });
const read: ToolCallRequest = { tool: 'box_state', target: 'box', input: {} };

async function auditBodies(): Promise<readonly Record<string, unknown>[]> {
  const rows = await core.sql<Row>`SELECT body FROM audit_entry ORDER BY seq`;
  return rows.map((row) => JSON.parse(String(row['body'])) as Record<string, unknown>);
}

describe('a call is refused with its code, on record and in the audit log', () => {
  test.each<[string, () => Credential, ToolCallRequest]>([
    ['UNKNOWN_TOOL', () => mint('detective'), { ...read, tool: 'box_sing' }],
    ['BAD_INPUT', () => mint('detective'), { ...read, input: { extra: 1 } }],
    ['ROLE_MAY_NOT', () => mint('detective'), { tool: 'box_mend', target: 'box', input: { how: 'a' } }],
    ['ROLE_MAY_NOT', () => mint('surgeon'), read],
    ['ROLE_MAY_NOT', () => mint('triage'), { ...read, tool: 'box_probe' }],
    ['CREDENTIAL_INVALID', () => revoked(), read],
    ['NO_TARGET', () => mint('detective'), { ...read, target: null }],
    ['UNKNOWN_TARGET', () => mint('detective'), { ...read, target: 'elsewhere' }],
    ['TARGET_OUT_OF_SCOPE', () => mint('detective', []), read],
    ['WRONG_DOMAIN', () => mint('detective'), { ...read, tool: 'pod_logs' }],
    [
      'INPUT_HIDDEN_CHARACTERS',
      () => mint('detective'),
      { ...read, tool: 'box_leak', input: { note: 'a\u202eb' } },
    ],
    [
      'INPUT_TOO_LONG',
      () => mint('detective'),
      { ...read, tool: 'box_leak', input: { note: 'a'.repeat(10_001) } },
    ],
    ['TOOLSET_NOT_LOADED', () => mint('detective'), { ...read, tool: 'memory_note' }],
  ])('%s', async (code, credential, request) => {
    const result = await core.gate.call(credential(), request, { signal });
    expect(result).toMatchObject({ kind: 'refused', code });
    const [row] = await core.sql`SELECT state, code FROM tool_call WHERE id = ${result.toolCallId}`;
    expect(row).toEqual({ state: 'refused', code });
    const entry = (await auditBodies()).find(
      (body) => (body['details'] as { toolCall?: string }).toolCall === result.toolCallId,
    );
    expect(entry).toMatchObject({ kind: 'gate.refused', details: { code } });
  });

  test('says what is allowed instead, and nothing of what is configured beside it', async () => {
    const reason = async (credential: Credential, request: ToolCallRequest) => {
      const result = await core.gate.call(credential, request, { signal });
      return result.kind === 'refused' ? result.reason : '';
    };
    expect(await reason(mint('triage'), { ...read, tool: 'box_sing' })).toBe(
      'There is no tool called "box_sing". There are box_state, box_leak, memory_note, pod_logs.',
    );
    expect(await reason(mint('surgeon'), { ...read, tool: 'restart' })).toContain('There are box_mend.');
    for (const target of ['elsewhere', null])
      expect(await reason(mint('detective'), { ...read, target })).toContain(
        "This incident's target is box.",
      );
    expect(await reason(mint('detective', []), read)).toBe(
      '"box" is not part of this incident. This incident has no configured target, so there is no system to read.',
    );
  });

  function revoked(): Credential {
    const credential = mint('detective');
    core.vault.revoke(credential);
    return credential;
  }

  test('CREDENTIAL_EXPIRED after 15 minutes', async () => {
    let now = 0;
    const vault = await openCredentialVault({
      sql: core.sql,
      audit: core.audit,
      identities: core.identities,
      executorId: randomUUID(),
      log: quiet,
      now: () => now,
    });
    const credential = vault.mint({ role: 'triage', incidentId, targets: [] });
    now = 15 * 60_000 - 1;
    expect(await vault.check(credential)).toBeUndefined();
    now += 1;
    expect(await vault.check(credential)).toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
  });

  test('TOO_MANY_CALLS after 300 in an hour, but the validator goes on watching', async () => {
    const other = await newIncident();
    await core.sql`INSERT INTO throttle (key, starts, counts)
                   VALUES (${`incident:${other}`}, ARRAY[extract(epoch FROM clock_timestamp())::float8], '{300}')`;
    const call = (role: Role) =>
      core.gate.call(core.vault.mint({ role, incidentId: other, targets: ['box'] }), read, { signal });
    expect(await call('detective')).toMatchObject({
      kind: 'refused',
      code: 'TOO_MANY_CALLS',
      reason: expect.stringMatching(/Try again in \d+ (s|min)/),
    });
    expect(await call('validator')).toMatchObject({ kind: 'ok' });
  });
});

test('a copied credential is refused, and what it says of itself reaches no incident', async () => {
  const before = await core.records.load(incidentId);
  const copy = { ...mint('detective') };
  const result = await core.gate.call(copy, read, { signal });
  expect(result).toMatchObject({ kind: 'refused', code: 'CREDENTIAL_INVALID' });
  expect((await core.records.load(incidentId))?.toolCalls).toEqual(before?.toolCalls);
  const entry = (await auditBodies()).findLast((body) => body['kind'] === 'gate.refused');
  expect(entry).toMatchObject({
    kind: 'gate.refused',
    actor: 'unknown',
    incident: null,
    details: { toolCall: result.toolCallId, code: 'CREDENTIAL_INVALID' },
  });
});

test('roles may use exactly the kinds of tools the seed gives them', () => {
  const table = Object.fromEntries(
    roles.map((role) => [
      role,
      (['read', 'docs', 'diagnostic', 'active', 'changes', 'usual'] as const).filter((kind) =>
        mayUse(role, kind),
      ),
    ]),
  );
  expect(table).toEqual({
    supervisor: ['read', 'docs', 'diagnostic', 'active', 'changes', 'usual'],
    triage: ['read', 'docs', 'changes', 'usual'],
    detective: ['read', 'docs', 'diagnostic', 'changes', 'usual'],
    surgeon: ['active'],
    validator: ['read', 'diagnostic'],
    mcp: ['read', 'docs', 'diagnostic', 'active', 'changes', 'usual'],
  });
});

test('a secret in an output reaches neither the caller nor the record', async () => {
  const result = await core.gate.call(mint('detective'), { ...read, tool: 'box_leak' }, { signal });
  expect(result).toMatchObject({ kind: 'ok' });
  const [row] =
    await core.sql<Row>`SELECT output, result::text AS result FROM tool_call WHERE id = ${result.toolCallId}`;
  expect(JSON.stringify([result, row])).not.toContain(secret);
  expect(row?.['output']).toMatch(/^token is \[redacted:/);
});

test('arguments that hold a secret cannot be proposed', async () => {
  const request = { tool: 'box_mend', target: 'box', input: { how: secret } };
  expect(await core.gate.call(mint('surgeon'), request, { signal })).toMatchObject({
    kind: 'refused',
    code: 'SECRET_IN_PLAN',
  });
  expect(machine.effects).toBe(0);
});

test('while STOP_SENTRY lies in the data folder a proposal is for show only, and after it is gone it is real', async () => {
  const propose = async (): Promise<unknown> => {
    const id = await newIncident();
    const credential = core.vault.mint({ role: 'surgeon', incidentId: id, targets: ['box'] });
    const result = await core.gate.call(
      credential,
      { tool: 'box_mend', target: 'box', input: { how: 'a' } },
      { signal },
    );
    if (result.kind !== 'proposed') throw new Error(JSON.stringify(result));
    const action = await core.records.action(result.actionId);
    const answer = await core.approvals.decide({
      actionId: result.actionId,
      planHash: action?.planHash ?? '',
      by: 'UONCALL',
      decision: 'approve',
      reason: '',
      anotherWay: false,
    });
    return answer.ok ? 'approved' : answer.code;
  };
  writeFileSync(stopFile, '');
  expect(await propose()).toBe('AUDIT_ONLY');
  rmSync(stopFile);
  expect(await propose()).toBe('approved');
});

describe('the audit log', () => {
  test('is one chain of hashes, whoever appends at the same time', async () => {
    const append = (n: number): Promise<void> =>
      n % 3 === 0
        ? core.sql.begin(
            async (tx) =>
              void (await core.audit.appendIn(tx, { kind: 'test', actor: 'system', details: { n } })),
          )
        : core.audit.append({ kind: 'test', actor: 'system', details: { n } });
    await Promise.all(Array.from({ length: 300 }, (_, n) => append(n)));
    const rows =
      await core.sql<Row>`SELECT seq::int AS seq, prev_hash, body, hash FROM audit_entry ORDER BY seq`;
    let previous = '0'.repeat(64);
    for (const [index, row] of rows.entries()) {
      expect(row['seq']).toBe(index + 1);
      expect(row['prev_hash']).toBe(previous);
      const text = `${index + 1}\n${previous}\n${String(row['body'])}`;
      previous = createHash('sha256').update(text).digest('hex');
      expect(row['hash']).toBe(previous);
    }
    expect(rows.length).toBeGreaterThan(300);
  });

  test('cannot be changed, emptied or shortened', async () => {
    const attempts = [
      core.sql`UPDATE audit_entry SET body = '{}' WHERE seq = 1`,
      core.sql`DELETE FROM audit_entry WHERE seq = 1`,
      core.sql`TRUNCATE audit_entry`,
    ];
    for (const attempt of attempts) await expect(attempt).rejects.toThrow('append-only');
  });
});
