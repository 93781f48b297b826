import type { Finding } from '../core/finding.ts';
import { within } from '../core/within.ts';
import type { TargetConfig } from '../targets/kind.ts';
import { examineTarget } from './doctor.ts';

/** Somebody waits for it in Slack; `sentry doctor` waits longer. */
const TARGET_MS = 8_000;

/** The parts beside Slack, as `sentry doctor` looks at them, for who sets Sentry up. */
export async function examineParts(parts: {
  readonly targets: readonly TargetConfig[];
  readonly mode: 'AUDIT' | 'ACTIVE';
  readonly hasModel: boolean;
}): Promise<readonly Finding[]> {
  const { targets, mode, hasModel } = parts;
  const systems: readonly Finding[] =
    targets.length === 0
      ? [
          {
            part: 'Systems',
            ok: false,
            says: 'none is named, so there is nothing to look at',
            todo: 'Name one in sentry.yaml: sentry targets add asks what it needs.',
          },
        ]
      : await Promise.all(
          targets.map((target) =>
            within(TARGET_MS, examineTarget(target), () => ({
              part: `Target ${target.name}`,
              ok: false,
              says: `no answer within ${TARGET_MS / 1000} s`,
              todo: 'sentry doctor looks longer, and says what it waits for.',
            })),
          ),
        );
  return [
    ...systems,
    {
      part: 'Model',
      ok: true,
      says: hasModel ? 'Claude investigates' : 'no key: the runbooks investigate',
      todo: null,
    },
    {
      part: 'Mode',
      ok: true,
      says:
        mode === 'ACTIVE'
          ? 'approved fixes are run'
          : 'nothing is changed, whatever is approved, until SENTRY_MODE=ACTIVE is set',
      todo: null,
    },
  ];
}
