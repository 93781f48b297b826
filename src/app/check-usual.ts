import type { Config } from '../config/config.ts';
import { count } from '../core/count.ts';
import { OpsError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { kinds } from '../targets/kinds.ts';
import { kindOf } from '../targets/systems.ts';
import { type SamplingState, samplingStates } from '../usual/sample-rows.ts';
import { openStore } from './store.ts';

const MINUTE_MS = 60_000;
/** One that was missed may be a restart; three are none. */
const MISSED = 3;

/** For `sentry doctor`: how old the newest samples are. Throws OpsError where a target is not sampled any more. */
export async function checkUsual(config: Config, log: Log): Promise<string> {
  const { usualMinutes, targets } = config;
  if (usualMinutes === null) return 'off (SENTRY_USUAL_MINUTES)';
  const names = targets.filter((target) => kindOf(kinds, target).usual !== null).map(({ name }) => name);
  if (names.length === 0) return 'no target whose kind has any';
  const store = await openStore(config, log);
  try {
    return describeSampling(await samplingStates(store.sql, names), names, usualMinutes, new Date());
  } finally {
    await store.stop();
  }
}

/** The same from what is on record. */
export function describeSampling(
  states: readonly SamplingState[],
  names: readonly string[],
  everyMinutes: number,
  now: Date,
): string {
  if (states.length === 0) return 'no sample yet: the first is taken within the hour that Sentry runs';
  const age = ({ sampledAt }: SamplingState): number =>
    sampledAt === null ? Number.POSITIVE_INFINITY : now.getTime() - Date.parse(sampledAt);
  const failing = states.filter((state) => age(state) > MISSED * everyMinutes * MINUTE_MS);
  if (failing.length > 0)
    throw new OpsError(
      'USUAL_OLD',
      failing.map((state) => `${state.target}: ${ageOf(age(state))}${because(state)}`).join('; '),
      { hint: 'Samples are taken while Sentry runs. Where it does, what the target says above is why.' },
    );
  const oldest = Math.max(...states.map(age));
  const never = names.filter((name) => !states.some(({ target }) => target === name));
  const partly = states.filter(({ why }) => why !== null);
  return [
    `${count(
      states.reduce((sum, { samples }) => sum + samples, 0),
      'sample',
    )} of ${count(states.length, 'target')}, the newest at most ${Math.round(oldest / MINUTE_MS)} min old`,
    ...partly.map((state) => `${state.target}${because(state)}`),
    ...never.map((name) => `${name}: no sample yet`),
  ].join('; ');
}

const ageOf = (ms: number): string =>
  Number.isFinite(ms) ? `newest sample ${Math.round(ms / (60 * MINUTE_MS))} h old` : 'no sample';

const because = ({ why }: SamplingState): string => (why === null ? '' : `, last try: ${why}`);
