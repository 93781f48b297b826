import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../../src/core/ids.ts';
import { mayRead, type Reader } from '../../../../src/memory/documents/access.ts';
import {
  type DocType,
  docTypes,
  type MemoryScope,
  memoryScopes,
} from '../../../../src/memory/documents/document.ts';
import { DocumentPath } from '../../../../src/memory/documents/new-document.ts';
import { mayWrite, type WriterKind, writePolicy } from '../../../../src/memory/policy.ts';

const kinds = Object.keys(writePolicy) as WriterKind[];
const allowed = (writer: WriterKind, scope: MemoryScope, own = true): DocType[] =>
  docTypes.filter((docType) => mayWrite({ writer, scope, docType, own }) === undefined);

describe('the policy', () => {
  test('is the seed’s table for agents', () => {
    expect(allowed('agent', 'workspace')).toEqual([]);
    expect(allowed('agent', 'conversation')).toEqual([...docTypes]);
    expect(allowed('agent', 'user')).toEqual(['user_preference']);
  });

  test('lets nobody but admins, promotion, seeding and imports into the workspace', () => {
    expect(kinds.filter((writer) => allowed(writer, 'workspace').length > 0)).toEqual([
      'admin',
      'promotion',
      'system',
      'import',
    ]);
  });

  test('lets nobody but an import into a place that is not theirs', () => {
    for (const writer of kinds)
      for (const scope of memoryScopes)
        if (writer !== 'import') expect(allowed(writer, scope, false)).toEqual([]);
  });

  test('refuses whoever it does not know', () => {
    expect(
      mayWrite({ writer: 'constructor' as WriterKind, scope: 'workspace', docType: 'note', own: true }),
    ).toMatchObject({ code: 'MEMORY_POLICY_DENIED' });
  });
});

describe('who reads', () => {
  const ids = fc.constantFrom('INC-1', 'INC-2', 'INC-3').map(asIncidentId);
  const users = fc.constantFrom('UA', 'UB', 'UC');
  const readers: fc.Arbitrary<Reader> = fc.oneof(
    fc.record({ kind: fc.constant('agent' as const), incidentId: ids, userId: fc.option(users) }),
    fc.record({ kind: fc.constant('person' as const), userId: users, incidents: fc.array(ids) }),
  );

  test('a user store is its owner’s, a conversation is its participants’, whatever else is true', () => {
    fc.assert(
      fc.property(readers, users, ids, (reader, owner, incidentId) => {
        const mine = mayRead(reader, { scope: 'user', owner, incidentId: null });
        expect(mine).toBe(reader.kind !== 'operator' && reader.userId === owner);
        const part =
          reader.kind === 'agent'
            ? reader.incidentId === incidentId
            : reader.kind === 'person' && reader.incidents.includes(incidentId);
        expect(mayRead(reader, { scope: 'conversation', owner: null, incidentId })).toBe(part);
        expect(mayRead(reader, { scope: 'workspace', owner: null, incidentId: null })).toBe(true);
      }),
    );
  });

  test('an ownerless user store, a conversation without incident and an unknown scope are nobody’s', () => {
    const reader: Reader = { kind: 'agent', incidentId: asIncidentId('INC-1'), userId: null };
    expect(mayRead(reader, { scope: 'user', owner: null, incidentId: null })).toBe(false);
    expect(mayRead(reader, { scope: 'conversation', owner: null, incidentId: null })).toBe(false);
    expect(mayRead(reader, { scope: 'galaxy' as MemoryScope, owner: null, incidentId: null })).toBe(false);
  });
});

test('a path addresses one document and leads nowhere else', () => {
  for (const path of ['a', 'runbooks/orders-lock', 'a/b/c/d/e', 'v1.2_x'])
    expect(DocumentPath.safeParse(path).success).toBe(true);
  for (const path of [
    '',
    '/a',
    'a/',
    'a//b',
    '../a',
    'a/..',
    'a/b..c',
    'A',
    'a b',
    'a\n',
    'a/b/c/d/e/f',
    'ä',
  ])
    expect(DocumentPath.safeParse(path).success).toBe(false);
});

test('versions are written in one place, behind policy and scanner', () => {
  const src = join(import.meta.dirname, '../../../../src');
  const writers = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .filter((name) =>
      /(?:INTO|UPDATE)\s+memory_(?:version|source_ref)/i.test(readFileSync(join(src, name), 'utf8')),
    );
  expect(writers).toEqual([join('memory', 'documents', 'write-document.ts')]);
});
