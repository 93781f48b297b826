import { randomUUID } from 'node:crypto';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import { roles } from '../../../src/core/incident.ts';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { type Claims, isSignedBy, signClaims } from '../../../src/safety/vault/claims.ts';
import {
  type CredentialVault,
  openCredentialVault,
  type VaultOptions,
} from '../../../src/safety/vault/credentials.ts';
import { createIdentities, type Identities } from '../../../src/safety/vault/identities.ts';
import { openVaultKey } from '../../../src/safety/vault/vault-key.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';

let scratch: ScratchDatabase;
let database: Database;
let other: Database;
let identities: Identities;
let vault: CredentialVault;
/** Another process of the same deployment. */
let elsewhere: CredentialVault;
const dataDir = scratchDir();
const incidentId = 'INC-1' as IncidentId;

function identitiesOn({ sql }: Database, folder = dataDir): Identities {
  return createIdentities({ sql, audit: createAuditLog(sql), key: openVaultKey(folder, null) });
}
function open(on: Database, options: Partial<VaultOptions> = {}): Promise<CredentialVault> {
  const { sql } = on;
  return openCredentialVault({
    sql,
    audit: createAuditLog(sql),
    identities: identitiesOn(on),
    executorId: randomUUID(),
    log: quiet,
    ...options,
  });
}

beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  database = openDatabase(scratch.url, { max: 3 });
  other = openDatabase(scratch.url, { max: 3 });
});
beforeEach(async () => {
  await database.sql`DELETE FROM identity`;
  identities = identitiesOn(database);
  vault = await open(database);
  elsewhere = await open(other);
});
afterAll(async () => {
  await database.close();
  await other.close();
  await scratch.drop();
});

const surgeon = (from: CredentialVault = vault, more = {}) =>
  from.mint({ role: 'surgeon', incidentId, targets: ['box'], ...more });
function signs(): boolean {
  try {
    return surgeon() !== undefined;
  } catch {
    return false;
  }
}
const role = async (name: string): Promise<string> => {
  const found = (await identities.list({ all: false })).find(
    (one) => one.kind === 'role' && one.name === name,
  );
  return found?.id ?? '';
};

describe('identities', () => {
  test('every role and every process has one, and processes that start together make each role once', async () => {
    await database.sql`DELETE FROM identity`;
    await Promise.all([1, 2, 3, 4].map((n) => open(n % 2 ? database : other)));
    const all = await identities.list({ all: true });
    expect(all.filter((one) => one.kind === 'process')).toHaveLength(4);
    expect(
      all
        .filter((one) => one.kind === 'role')
        .map((one) => one.name)
        .toSorted(),
    ).toEqual(['detective', 'mcp', 'supervisor', 'surgeon', 'triage', 'validator']);
  });

  test('no private key lies in the database in the clear, and a process’s lies nowhere', async () => {
    const rows = await database.sql<Row>`SELECT kind, sealed_key FROM identity`;
    const key = openVaultKey(dataDir, null);
    for (const row of rows) {
      if (row['kind'] === 'process') expect(row['sealed_key']).toBeNull();
      else {
        const bytes = Buffer.from(String(row['sealed_key']), 'base64');
        // What every Ed25519 key in PKCS #8 begins with (RFC 8410).
        expect(bytes.includes(Buffer.from('302e020100300506032b6570', 'hex'))).toBe(false);
        expect(() => key.unseal(String(row['sealed_key']), 'somebody else')).toThrow(/not as it was sealed/);
      }
    }
  });

  test('a key put into the table by hand signs nothing', async () => {
    const forger = createIdentities({
      sql: database.sql,
      audit: createAuditLog(database.sql),
      key: openVaultKey(scratchDir(), null),
    });
    const ours = await role('surgeon');
    const forged = await forger.rotate('surgeon', 'mallory');
    await database.sql`UPDATE identity SET rotated_at = now() WHERE id = ${ours}`;
    await database.sql`UPDATE identity SET vault = (SELECT vault FROM identity WHERE id = ${ours}) WHERE id = ${forged}`;
    await expect(open(database)).rejects.toMatchObject({ code: 'VAULT_FORGED' });
  });

  test('two keys exchanged between roles are found', async () => {
    await database.sql`
      UPDATE identity i SET public_key = o.public_key, sealed_key = o.sealed_key, mac = o.mac FROM identity o
       WHERE i.name = 'triage' AND o.name = 'surgeon'`;
    await expect(open(database)).rejects.toMatchObject({ code: 'VAULT_FORGED' });
  });

  test('the vault’s key is made once, only its owner can read it, and a spoilt one is said to be', () => {
    const folder = scratchDir();
    const { id } = openVaultKey(folder, null);
    const file = join(folder, 'vault-key');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    expect(openVaultKey(folder, null).id).toBe(id);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(openVaultKey('/nowhere', Buffer.from(readFileSync(file, 'utf8').trim(), 'hex')).id).toBe(id);
    writeFileSync(file, 'secret');
    expect(() => openVaultKey(folder, null)).toThrow(/64 hex digits/);
  });
});

describe('a credential', () => {
  test('is good until its phase ends, for its tools, in its own process', async () => {
    const credential = surgeon(vault, { tools: ['box_mend'] });
    expect(await vault.check(credential, 'box_mend')).toBeUndefined();
    expect(await vault.check(credential, 'box_mend')).toBeUndefined();
    expect(await vault.check(credential, 'box_break')).toMatchObject({ code: 'TOOL_OUT_OF_SCOPE' });
    expect(await elsewhere.check(credential, 'box_mend')).toMatchObject({ code: 'CREDENTIAL_INVALID' });
    vault.revoke(credential);
    expect(await vault.check(credential, 'box_mend')).toMatchObject({ code: 'CREDENTIAL_INVALID' });
  });

  test('that is good for one call is used once, by however many at once', async () => {
    const credential = surgeon(vault, { singleUse: true });
    const answers = await Promise.all(Array.from({ length: 20 }, () => vault.check(credential)));
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
    expect(answers.filter((answer) => answer?.code === 'CREDENTIAL_REPLAYED')).toHaveLength(19);
  });

  test('expires by the clock here and by the database’s, whichever is first', async () => {
    let now = 0;
    const slow = await open(database, { now: () => now, ttlMs: 60_000 });
    const [one, two] = [surgeon(slow), surgeon(slow)];
    await database.sql`UPDATE credential SET expires_at = clock_timestamp() WHERE id = ${one.id}`;
    // On record by now, at the latest when it is asked for.
    expect(await slow.check(two)).toBeUndefined();
    await database.sql`UPDATE credential SET expires_at = clock_timestamp() WHERE id = ${two.id}`;
    expect(await slow.check(two)).toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
    now = 60_000;
    expect(await slow.check(one)).toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
  });

  test('is revoked at once by another process: itself, its role’s identity, or its process’s', async () => {
    const [one, two] = [surgeon(), surgeon(elsewhere)];
    expect(await vault.check(one)).toBeUndefined();
    await other.sql`UPDATE credential SET revoked_at = clock_timestamp() WHERE id = ${one.id}`;
    expect(await vault.check(one)).toMatchObject({ code: 'CREDENTIAL_INVALID' });

    expect(await elsewhere.check(two)).toBeUndefined();
    expect(await identities.revoke(two.process, 'an operator', 'its machine was lost')).toBe(true);
    expect(await elsewhere.check(two)).toMatchObject({ code: 'IDENTITY_REVOKED' });

    const three = surgeon();
    await identitiesOn(other).revoke(three.identity, 'an operator', 'leaked');
    expect(await vault.check(three)).toMatchObject({ code: 'IDENTITY_REVOKED' });
    await waitFor('the keys read anew', async () => !signs());
    // A restart does not undo it; a new key pair does.
    const again = await open(database);
    expect(() => surgeon(again)).toThrow(/is revoked/);
    await identities.rotate('surgeon', 'an operator');
    expect(await again.check(again.mint({ role: 'triage', incidentId, targets: [] }))).toBeUndefined();
    expect(await (await open(database)).check(surgeon(await open(database)))).toMatchObject({
      code: 'CREDENTIAL_INVALID',
    });
  });

  test('outlives a rotation; the next one is signed by the new key', async () => {
    const before = surgeon();
    const id = await identitiesOn(other).rotate('surgeon', 'an operator');
    expect(await vault.check(before)).toBeUndefined();
    await waitFor('the new key', async () => surgeon().identity === id);
    expect(await vault.check(surgeon())).toBeUndefined();
  });

  test('is forgotten a week after its end, its process with it; a live one stays', async () => {
    const [old, live] = [surgeon(elsewhere), surgeon()];
    await Promise.all([elsewhere.check(old), vault.check(live)]);
    await database.sql`UPDATE credential SET expires_at = clock_timestamp() - interval '8 days' WHERE id = ${old.id}`;
    await database.sql`UPDATE identity SET created_at = clock_timestamp() - interval '8 days'`;
    await vault.tidy();
    expect(await vault.check(live)).toBeUndefined();
    const left = await identities.list({ all: true });
    expect(left.some(({ id }) => id === old.process)).toBe(false);
    expect(left.filter(({ kind }) => kind === 'role')).toHaveLength(roles.length);
  });

  test('is refused when it could not be put on record, or cannot be looked up', async () => {
    const audit = {
      ...createAuditLog(database.sql),
      append: () => Promise.reject(new Error('the disk is full')),
    };
    const deaf = await open(database, { audit });
    await expect(deaf.check(surgeon(deaf))).rejects.toThrow('the disk is full');
  });

  test('leaves its minting, by whom and for what, and each change of an identity in the audit log', async () => {
    const credential = surgeon();
    await vault.check(credential);
    await identities.revoke(await role('triage'), 'UADMIN', 'leaked');
    await identities.rotate('triage', 'UADMIN');
    const rows = await database.sql<Row>`SELECT body FROM audit_entry ORDER BY seq`;
    const entries = rows.map((row) => JSON.parse(String(row['body'])) as Record<string, unknown>);
    expect(entries).toContainEqual(
      expect.objectContaining({
        kind: 'credential.minted',
        actor: 'surgeon',
        incident: incidentId,
        details: expect.objectContaining({ credential: credential.id, targets: ['box'] }),
      }),
    );
    expect(entries.slice(-3).map((entry) => [entry['kind'], entry['actor']])).toEqual([
      ['identity.revoked', 'UADMIN'],
      ['identity.created', 'UADMIN'],
      ['identity.rotated', 'UADMIN'],
    ]);
  });
});

describe('a signature', () => {
  const claims: Claims = {
    id: 'cred_1',
    role: 'detective',
    identity: 'nhi_1',
    process: 'nhi_2',
    incidentId,
    targets: ['box'],
    tools: null,
    toolsets: [],
    expiresAt: 1_000,
    singleUse: false,
  };
  const changes: Readonly<Record<string, Partial<Claims>>> = {
    'another role': { role: 'surgeon' },
    'another incident': { incidentId: 'INC-2' as IncidentId },
    'more targets': { targets: ['box', 'other'] },
    'one target that reads like two': { targets: ['box","other'] },
    'a tool': { tools: ['box_mend'] },
    'a toolset': { toolsets: ['memory'] },
    'a later end': { expiresAt: 2_000 },
    'for ever': { expiresAt: Number.MAX_SAFE_INTEGER },
    'another process': { process: 'nhi_3' },
    'another identity': { identity: 'nhi_3' },
    'another id': { id: 'cred_2' },
    'one call only': { singleUse: true },
  };
  test.each(Object.entries(changes))('does not cover %s', async (_, change) => {
    const [byRole, byProcess] = [await identities.enrol('a'), await identities.enrol('b')];
    const signatures = signClaims(claims, byRole.privateKey, byProcess.privateKey);
    expect(isSignedBy(claims, signatures, byRole.publicKey, byProcess.publicKey)).toBe(true);
    expect(isSignedBy({ ...claims, ...change }, signatures, byRole.publicKey, byProcess.publicKey)).toBe(
      false,
    );
  });

  test('of another key, of one of the two, or none at all is none', async () => {
    const [byRole, byProcess, mallory] = await Promise.all(
      ['a', 'b', 'c'].map((name) => identities.enrol(name)),
    );
    if (!byRole || !byProcess || !mallory) throw new Error('no keys');
    const right = signClaims(claims, byRole.privateKey, byProcess.privateKey);
    const wrong = signClaims(claims, mallory.privateKey, mallory.privateKey);
    for (const signatures of [
      wrong,
      { ...right, byRole: wrong.byRole },
      { ...right, byProcess: wrong.byProcess },
      { byRole: right.byProcess, byProcess: right.byRole },
      { byRole: '', byProcess: '' },
      { byRole: 'not base64 ✓', byProcess: right.byProcess },
    ])
      expect(isSignedBy(claims, signatures, byRole.publicKey, byProcess.publicKey)).toBe(false);
  });
});

describe('a process with another key', () => {
  const withOwnKey = (on: Database) => open(on, { identities: identitiesOn(on, scratchDir()) });

  it('does not start beside one that is starting, and says what to do [F10]', async () => {
    await expect(withOwnKey(other)).rejects.toMatchObject({
      code: 'VAULT_KEY_OTHER',
      hint: expect.stringMatching(/SENTRY_VAULT_KEY.*vault-key.*DATABASE_URL/),
    });
    expect(await database.sql`SELECT DISTINCT vault FROM identity WHERE kind = 'process'`).toHaveLength(1);
  });

  it('does not start beside one that works, however long ago that began [F10]', async () => {
    await database.sql`UPDATE identity SET created_at = created_at - interval '1 day'`;
    await beat('1 second');
    await expect(withOwnKey(other)).rejects.toMatchObject({ code: 'VAULT_KEY_OTHER' });
  });

  it('starts when the other has ended, or died and lies long still [F10]', async () => {
    await database.sql`UPDATE identity SET created_at = created_at - interval '1 day'`;
    await beat('1 minute');
    await expect(withOwnKey(other)).resolves.toBeDefined();
    await database.sql`DELETE FROM identity`;
    const ended = await open(database);
    await ended.close();
    await expect(withOwnKey(other)).resolves.toBeDefined();
  });

  it('of four that start at once with a key each one starts [F10]', async () => {
    await database.sql`DELETE FROM identity`;
    const started = await Promise.allSettled([database, other, database, other].map(withOwnKey));
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  /** Of every process that has enrolled. */
  const beat = (ago: string) =>
    database.sql`
      INSERT INTO process (executor_id, pid, host, beat_at)
      SELECT name, 1, 'here', clock_timestamp() - ${ago}::interval FROM identity WHERE kind = 'process'`;
});
