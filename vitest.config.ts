import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { PATIENT_MS, patience } from './test/support/patience.ts';

/**
 * Tests of which a worker may run one file after the other: each closes what it opens, none leaves the environment, globals or the
 * engine's own registry changed. Those that test such things (processes, signals, what loads first) get a folder that is not here.
 */
const TOGETHER = [
  'test/{contract,fuzz,structure}/**/*.test.ts',
  'test/integration/{actions,agents,app,changes,core,escalation,evals,http,incidents,ingest,mcp,memory}/**/*.test.ts',
  'test/integration/{playground-slack,safety,search,slack,targets,truth,usual}/**/*.test.ts',
];

const shared = {
  globalSetup: ['test/support/scratch-root.ts'],
  setupFiles: ['test/support/no-broad-signal.ts', 'src/core/issue-words.ts'],
  testTimeout: 60_000 * patience,
  hookTimeout: 60_000 * patience,
  expect: { poll: { timeout: PATIENT_MS, interval: 25 } },
  pool: 'forks' as const,
  // What is marked as concurrent is meant to meet all at once.
  maxConcurrency: 20,
  // On a busy CI machine a time limit of a real server may pass; what fails twice is broken. Locally nothing is tried again.
  retry: process.env['CI'] === 'true' ? 1 : 0,
};

// vitest finds its configuration by the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  test: {
    // More than there are cores: the tests wait for servers and deadlines half of their time.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          globalSetup: ['test/support/unit-root.ts'],
          setupFiles: [...shared.setupFiles, 'test/support/starts-nothing.ts'],
          include: ['test/unit/**/*.test.ts'],
          // They start nothing and leave nothing behind: loading the modules once a worker halves their time.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'parallel',
          include: ['test/{contract,integration}/**/*.test.ts'],
          exclude: TOGETHER,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'together',
          include: TOGETHER,
          // Loading the product takes four seconds of a processor, which each file would pay.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // The whole product, mostly waiting for it: beside those that need the machine, so that neither stands idle.
        test: {
          ...shared,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // By `npm run test:chaos` only: these kill parts of the product of their own at chosen moments, for minutes.
        test: {
          ...shared,
          name: 'chaos',
          // Longer than any one wait of theirs, which says what it waited for.
          testTimeout: 180_000 * patience,
          maxWorkers: 2,
          include: ['test/chaos/**/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
