import { defineConfig } from 'vitest/config';

const shared = {
  globalSetup: ['test/support/scratch-root.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  // On a busy CI machine a time limit of a real server may pass; what fails twice is broken. Locally nothing is tried again.
  retry: process.env['CI'] === 'true' ? 1 : 0,
};

// vitest finds its configuration by the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  test: {
    // More workers than cores make timings in tests of real servers worthless.
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...shared,
          name: 'parallel',
          include: ['test/{unit,contract,integration,fuzz}/**/*.test.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        // The whole product, mostly waiting for it: two at once, after those that need the machine.
        test: {
          ...shared,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        // One at a time and last: these kill parts of the product at chosen moments.
        test: {
          ...shared,
          name: 'chaos',
          include: ['test/chaos/**/*.test.ts'],
          fileParallelism: false,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
