import { type Refusal, refuse } from '../domain/errors.ts';

/** What a person asked to stop or resume, taken from their words. */
export interface SwitchWords {
  readonly ok: true;
  /** `*`, `domain:<domain>` or `target:<name>`. */
  readonly scope: string;
  /** Ms from now after which the stop ends by itself; null: when somebody resumes. */
  readonly forMs: number | null;
  readonly reason: string;
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A longer stop is one without an end. */
const MAX_MS = 31 * 86_400_000;
const REASON_MAX = 500;

/**
 * `[everything | <domain> | <target>] [for 30m|2h|1d] [reason …]`. A first word that is neither a domain nor a target
 * belongs to the reason, and everything is meant: a stop that was misunderstood must stop too much, not too little.
 * A scope that is written out (`target:x`) has to exist. `exact`, for what takes a stop back: there the first word has to
 * be a scope, or a misspelt one would free everything.
 */
export function readSwitchWords(
  text: string,
  known: { readonly domains: readonly string[]; readonly targets: readonly string[] },
  { exact = false }: { readonly exact?: boolean } = {},
): SwitchWords | Refusal {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const named = scopeOf(words[0] ?? '', known);
  if (typeof named === 'object') return named;
  if (exact && named === undefined && words[0] !== undefined)
    return refuse(
      'UNKNOWN_SCOPE',
      `“${words[0].slice(0, 80)}” is neither a domain nor a target; targets: ${known.targets.join(', ') || 'none'}.`,
    );
  if (named !== undefined) words.shift();
  let forMs: number | null = null;
  if (words[0]?.toLowerCase() === 'for') {
    const span = readSpan(words[1] ?? '');
    if (span === undefined)
      return refuse('BAD_TIME', `“for ${words[1] ?? ''}”: say for 30m, for 2h or for 1d (at most 31d).`);
    forMs = span;
    words.splice(0, 2);
  }
  return { ok: true, scope: named ?? '*', forMs, reason: words.join(' ').slice(0, REASON_MAX) };
}

/** Ms of `30m`, `2h`, `1d`; undefined when it is none or beyond 31 days. */
export function readSpan(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/i.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit.toLowerCase()] ?? Number.NaN);
  return ms > 0 && ms <= MAX_MS ? ms : undefined;
}

function scopeOf(
  word: string,
  { domains, targets }: { readonly domains: readonly string[]; readonly targets: readonly string[] },
): string | Refusal | undefined {
  const lower = word.toLowerCase();
  if (lower === '*' || lower === 'all' || lower === 'everything') return '*';
  const [, kind, name] = /^(domain|target):(.*)$/.exec(lower) ?? [];
  const target = targets.find((each) => each.toLowerCase() === (name ?? lower));
  const domain = domains.find((each) => each === (name ?? lower));
  if (kind !== 'domain' && target !== undefined) return `target:${target}`;
  if (kind !== 'target' && domain !== undefined) return `domain:${domain}`;
  if (kind === undefined) return undefined;
  const all = (kind === 'domain' ? domains : targets).join(', ') || 'none';
  return refuse('UNKNOWN_SCOPE', `There is no ${kind} “${name ?? ''}”; there are: ${all}.`);
}
