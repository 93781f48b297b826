/** A setting Sentry may change: reloadable, safe within its bounds. `unit` is pg_settings' own; bounds are in it. */
export interface ChangeableSetting {
  readonly unit: 'ms' | 's' | 'kB' | 'MB' | 'number' | 'bool';
  readonly min: number;
  readonly max: number;
  /** Allowed beside the range, with a meaning of its own (0 off, -1 unlimited or default). */
  readonly also?: readonly number[];
}

const hour = 3_600_000;
const timeout = (min: number): ChangeableSetting => ({ unit: 'ms', min, max: 24 * hour, also: [0] });
const bool: ChangeableSetting = { unit: 'bool', min: 0, max: 1 };
const count = (min: number, max: number, also: readonly number[] = []): ChangeableSetting => ({
  unit: 'number',
  min,
  max,
  also,
});

/**
 * The whole list. Left out on purpose: whatever needs a restart, weakens durability (fsync, synchronous_commit), names files or
 * commands, or decides who may connect. Timeouts too short to let ordinary work pass are refused.
 */
export const changeableSettings = {
  idle_in_transaction_session_timeout: timeout(1_000),
  idle_session_timeout: timeout(10_000),
  statement_timeout: timeout(1_000),
  lock_timeout: timeout(100),
  transaction_timeout: timeout(1_000),
  deadlock_timeout: { unit: 'ms', min: 10, max: 60_000 },
  autovacuum: bool,
  autovacuum_naptime: { unit: 's', min: 1, max: 3_600 },
  autovacuum_vacuum_threshold: count(0, 10_000_000),
  autovacuum_vacuum_scale_factor: count(0, 1),
  autovacuum_vacuum_insert_threshold: count(0, 10_000_000, [-1]),
  autovacuum_vacuum_insert_scale_factor: count(0, 1),
  autovacuum_analyze_threshold: count(0, 10_000_000),
  autovacuum_analyze_scale_factor: count(0, 1),
  autovacuum_vacuum_cost_delay: { unit: 'ms', min: 0, max: 100, also: [-1] },
  autovacuum_vacuum_cost_limit: count(1, 10_000, [-1]),
  log_autovacuum_min_duration: { unit: 'ms', min: 0, max: hour, also: [-1] },
  log_min_duration_statement: { unit: 'ms', min: 10, max: hour, also: [-1] },
  log_lock_waits: bool,
  log_checkpoints: bool,
  log_temp_files: { unit: 'kB', min: 0, max: 1_073_741_824, also: [-1] },
  work_mem: { unit: 'kB', min: 64, max: 262_144 },
  maintenance_work_mem: { unit: 'kB', min: 1_024, max: 2_097_152 },
  max_wal_size: { unit: 'MB', min: 64, max: 1_048_576 },
  checkpoint_timeout: { unit: 's', min: 30, max: 3_600 },
  checkpoint_completion_target: count(0.1, 1),
  max_slot_wal_keep_size: { unit: 'MB', min: 64, max: 10_485_760, also: [-1] },
} as const satisfies Readonly<Record<string, ChangeableSetting>>;

export type ChangeableName = keyof typeof changeableSettings;

export type ParsedSetting =
  /** `setting` as pg_settings shows it afterwards; `literal` as it stands in ALTER SYSTEM. */
  { readonly setting: string; readonly literal: string } | { readonly problem: string };

const factors: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ms: { ms: 1, s: 1_000, min: 60_000, h: hour, d: 24 * hour },
  s: { ms: 0.001, s: 1, min: 60, h: 3_600, d: 86_400 },
  kB: { kB: 1, MB: 1_024, GB: 1_048_576 },
  MB: { MB: 1, GB: 1_024, TB: 1_048_576 },
  number: {},
};

/** Reads `30s`, `64MB`, `0.05`, `on`; a bare number is in the setting's own unit. What goes into SQL is made anew from the number. */
export function parseSetting(name: ChangeableName, text: string): ParsedSetting {
  const spec: ChangeableSetting = changeableSettings[name];
  const value = text.trim();
  if (spec.unit === 'bool') return parseSwitch(value);
  const match = /^(-?\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z]{1,3})?$/.exec(value);
  if (match === null)
    return { problem: `expected a number${spec.unit === 'number' ? '' : ` with a unit (${units(spec)})`}` };
  const factor = match[2] === undefined ? 1 : factors[spec.unit]?.[match[2]];
  if (factor === undefined)
    return { problem: `unit "${match[2]}" is none of ${units(spec) || 'none: it takes a bare number'}` };
  const number = Number(match[1]) * factor;
  if (!spec.also?.includes(number) && (number < spec.min || number > spec.max))
    return {
      problem: `must be from ${spec.min} to ${spec.max}${spec.also?.length ? `, or ${spec.also.join(' or ')}` : ''} (${spec.unit})`,
    };
  const fractional = spec.unit === 'number' && /_factor$|_target$/.test(name);
  if (!fractional && !Number.isInteger(number)) return { problem: `must be a whole number of ${spec.unit}` };
  return {
    setting: String(number),
    literal: `'${number}${spec.unit === 'number' || number < 0 ? '' : spec.unit}'`,
  };
}

function parseSwitch(value: string): ParsedSetting {
  const on = /^(on|true|yes|1)$/i.test(value);
  if (!on && !/^(off|false|no|0)$/i.test(value)) return { problem: 'expected on or off' };
  return { setting: on ? 'on' : 'off', literal: on ? 'on' : 'off' };
}

function units(spec: ChangeableSetting): string {
  return Object.keys(factors[spec.unit] ?? {}).join(', ');
}
