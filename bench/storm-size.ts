import { parseArgs } from 'node:util';
import type { StormSize } from './storm.ts';

/** As `sentry bench storm` passes them on: fifty problems at once, an alert each, when not said otherwise. */
export function stormSize(args: readonly string[]): StormSize {
  const { values } = parseArgs({
    args: [...args],
    options: {
      alerts: { type: 'string' },
      problems: { type: 'string', default: '50' },
      seconds: { type: 'string', default: '0' },
      wait: { type: 'string', default: '1200' },
      json: { type: 'boolean', default: false },
    },
  });
  const problems = Number(values.problems);
  return {
    problems,
    alerts: Math.max(problems, Number(values.alerts ?? problems)),
    seconds: Number(values.seconds),
    wait: Number(values.wait),
  };
}
