import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRepositories } from '../../../src/code/open-repositories.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { ChangesScope } from '../../../src/core/what-changed.ts';
import { codeTools } from '../../../src/tools/code/code-tools.ts';
import type { Tool } from '../../../src/tools/define.ts';
import { createGitRepository } from '../../support/git-repository.ts';
import { call, createRig, openIncident, type Rig, SECRET } from '../actions/rig.ts';

const repository = createGitRepository();
let rig: Rig;
let incidentId: IncidentId;
let scope: ChangesScope | null = { target: 'box', neighbours: [], names: [] };

beforeAll(async () => {
  repository.write({ 'a.ts': 'one\n' });
  repository.commit('One', 'olivia');
  repository.git('tag', '1.0.0');
  repository.write({ 'a.ts': `const token = '${SECRET}';\n` });
  repository.commit(`Use ${SECRET}`, 'olivia');
  const at = { kind: 'local', path: repository.path } as const;
  const repositories = openRepositories([
    { name: 'box-code', of: ['box'], branch: null, at },
    { name: 'away', of: ['box-gone'], branch: null, at: { kind: 'local', path: `${repository.path}/none` } },
  ]);
  rig = await createRig({
    // The registry holds every kind of tool; the rig names only those of systems.
    tools: codeTools(repositories) as unknown as readonly Tool[],
    gate: {
      changes: {
        whatChanged: () => Promise.reject(new Error('not asked')),
        scopeOf: async () => scope,
      },
    },
  });
  incidentId = await openIncident(rig);
});
afterAll(() => rig.stop());

const log = { tool: 'code_log', target: null, input: {} };

test('what code shows goes through the gate: on record of no system, without its secrets', async () => {
  const result = await call(rig, 'detective', incidentId, log);
  expect(result).toMatchObject({ kind: 'ok', text: expect.stringContaining('olivia: Use [redacted') });
  expect(JSON.stringify(result)).not.toContain(SECRET);
  if (result.kind !== 'ok') throw new Error('not ok');
  expect(await rig.core.records.toolCall(result.toolCallId)).toMatchObject({
    tool: 'code_log',
    target: null,
    state: 'ok',
    output: result.text,
  });
  const diff = await call(rig, 'detective', incidentId, {
    tool: 'code_diff',
    target: null,
    input: { from: '1.0.0', to: 'main' },
  });
  expect(diff).toMatchObject({ kind: 'ok', text: expect.stringContaining('-one') });
  expect(JSON.stringify(diff)).not.toContain(SECRET);
});

test.each([
  ['triage', 'ok'],
  ['mcp', 'ok'],
  ['surgeon', 'refused'],
  ['validator', 'refused'],
] as const)('a call of %s is %s', async (role, kind) => {
  expect(await call(rig, role, incidentId, log)).toMatchObject({ kind });
});

test('code of another system is refused, and one that cannot be read fails with why', async () => {
  scope = { target: 'other', neighbours: [], names: [] };
  expect(await call(rig, 'detective', incidentId, log)).toMatchObject({
    kind: 'refused',
    code: 'NO_REPOSITORY',
  });
  scope = { target: 'box-gone', neighbours: [], names: [] };
  expect(await call(rig, 'detective', incidentId, log)).toMatchObject({
    kind: 'failed',
    code: 'CODE_AWAY',
    reason: expect.stringContaining('there is no such file or folder'),
  });
});
