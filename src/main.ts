#!/usr/bin/env node
import './core/issue-words.ts';
import { fail } from './cli/fail.ts';
import { createProgram } from './cli/program.ts';

// The engine's PostgreSQL driver warns of a deprecation of its own at every start; nobody here can act on it.
process.noDeprecation = true;

try {
  const program = await createProgram(process.argv[2] ?? '', {
    bench: async () => (await import('../bench/commands/bench.ts')).benchCommand,
    evals: async () => (await import('../evals/commands/evals.ts')).evalsCommand,
    replay: async () => (await import('../evals/commands/replay.ts')).replayCommand,
  });
  await program.parseAsync();
} catch (error) {
  fail(error);
}
