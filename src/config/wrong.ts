import { OpsError } from '../core/errors.ts';

/** A fault of the configuration, a line each. */
export function wrong(lines: readonly string[]): OpsError {
  return new OpsError(
    'CONFIG',
    `The configuration is wrong:\n${lines.map((line) => `  ${line}`).join('\n')}`,
    {
      hint: 'Correct the variables named above; docs/settings.md lists them all.',
    },
  );
}
