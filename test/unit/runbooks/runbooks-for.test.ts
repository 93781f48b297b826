import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { runbooksFor } from '../../../src/runbooks/runbooks-for.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { kinds } from '../../../src/targets/kinds.ts';
import { createRegistry } from '../../../src/tools/registry.ts';

test('a target gets the runbooks whose steps can be read on its kind, whatever the domain', async () => {
  const tools = createRegistry(allTools);
  const { runbooks } = await loadRunbooks(join(import.meta.dirname, '../../../runbooks'), { tools });
  const files = (kind: string) =>
    new Set(runbooksFor(runbooks, kind, tools).map(({ file }) => file.split('/', 1)[0]));
  // A host is of the domain docker where nothing else is said.
  expect(files('host')).toEqual(new Set(['host']));
  expect(files('docker')).toEqual(new Set(['containers']));
  expect(files('podman')).toEqual(new Set(['containers']));
  expect(files('postgres')).toEqual(new Set(['postgres']));
  expect(runbooksFor(runbooks, undefined, tools)).toBe(runbooks);
  // Each is somebody's.
  const all = kinds.flatMap(({ name }) => runbooksFor(runbooks, name, tools));
  expect(new Set(all)).toEqual(new Set(runbooks));
});
