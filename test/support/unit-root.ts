import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { makeRoot } from './scratch-root.ts';

/** Vitest's global setup of the unit tests: the folder of the run, and no process that watches over it. */
export function setup(project: Pick<TestProject, 'provide'>): () => void {
  const { root } = makeRoot();
  project.provide('scratchRoot', root);
  return () => rmSync(root, { recursive: true, force: true });
}
