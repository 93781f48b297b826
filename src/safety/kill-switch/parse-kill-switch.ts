import { closestName } from '../../core/closest-name.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { Target } from '../../core/target.ts';

/** What a person asked to stop or resume, taken from their words. */
export interface ParsedKillSwitch {
  readonly ok: true;
  /** `*`, `domain:<domain>` or `target:<name>`. */
  readonly scope: string;
  /** Ms from now after which the stop ends by itself; null: when somebody resumes. */
  readonly forMs: number | null;
  readonly reason: string;
}

/** What can be stopped, and how to stop all of it from where the words were said: what is asked back ends with that. */
export interface SwitchScopes {
  readonly domains: readonly string[];
  readonly targets: readonly string[];
  /** Other names that alerts use for a target, in lower case; without them only its own is known. */
  readonly aliases?: ReadonlyMap<string, string>;
  readonly everything: string;
}

/** By every name that people use for a target; a name of two targets is none of either. */
export function aliasesOf(targets: readonly Pick<Target, 'name' | 'aliases'>[]): ReadonlyMap<string, string> {
  const found = new Map<string, Set<string>>();
  for (const { name, aliases } of targets)
    for (const alias of aliases.map((each) => each.toLowerCase()))
      found.set(alias, new Set([...(found.get(alias) ?? []), name]));
  return new Map(
    [...found].flatMap(([alias, [name, ...others]]) => (name && others.length === 0 ? [[alias, name]] : [])),
  );
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A longer stop is one without an end. */
const MAX_MS = 31 * 86_400_000;
const REASON_MAX = 500;
/** What begins a reason, and never names a scope. */
const REASON = /^(?:(?:because|since|reason)\b|[:;,–—-])/i;

/**
 * `[everything | <domain> | <target>] [for 30m|2h|1d] [because …]`. A first word that is none of these stops nothing and is
 * asked back: whether it is a misspelt target or a reason, nobody but who typed it knows, and stopping the wrong thing
 * is not what they asked for. The answer carries the exact words that stop everything.
 */
export function parseKillSwitch(text: string, known: SwitchScopes): ParsedKillSwitch | Refusal {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const named = scopeOf(words, known);
  if ('ok' in named) return named;
  words.splice(0, named.words);
  let forMs: number | null = null;
  if (words[0]?.toLowerCase() === 'for') {
    const span = readSpan(words[1] ?? '');
    if (span === undefined)
      return refuse(
        'BAD_TIME',
        `“for ${words[1] ?? ''}”: say for 30m, for 2h or for 1d (at most 31d). Nothing was changed. ${known.everything}`,
      );
    forMs = span;
    words.splice(0, 2);
  }
  const reason = words
    .join(' ')
    .replace(/^(?:because|reason)\b\s*/i, '')
    .replace(/^[:;,–—-]+\s*/, '');
  return { ok: true, scope: named.scope, forMs, reason: reason.slice(0, REASON_MAX) };
}

/** Ms of `30m`, `2h`, `1d`; undefined when it is none or beyond 31 days. */
export function readSpan(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])[.,:;]?$/i.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit.toLowerCase()] ?? Number.NaN);
  return ms > 0 && ms <= MAX_MS ? ms : undefined;
}

/** The scope, and how many words say it. */
function scopeOf(
  words: readonly string[],
  known: SwitchScopes,
): { readonly scope: string; readonly words: number } | Refusal {
  const [first, second] = words;
  if (first === undefined || first.toLowerCase() === 'for' || REASON.test(first))
    return { scope: '*', words: 0 };
  const lower = plain(first);
  if (['*', 'all', 'everything'].includes(lower)) return { scope: '*', words: 1 };
  // “target shop-db” is how the answer says it.
  const [kind, name, length] =
    /^(?:target|domain)$/.test(lower) && second !== undefined
      ? ([lower, plain(second), 2] as const)
      : ([/^(target|domain):/.exec(lower)?.[1], lower.replace(/^(?:target|domain):/, ''), 1] as const);
  const target = known.targets.find((each) => each.toLowerCase() === name);
  const domain = known.domains.find((each) => each.toLowerCase() === name);
  const alias = known.aliases?.get(name);
  if (kind !== 'domain' && target !== undefined) return { scope: `target:${target}`, words: length };
  if (kind !== 'target' && domain !== undefined) return { scope: `domain:${domain}`, words: length };
  // Last: what also names a domain stops all of it.
  if (kind !== 'domain' && alias !== undefined) return { scope: `target:${alias}`, words: length };
  return unknown(kind === undefined ? first : name, kind, known);
}

/** Without the quotes and marks that people put around a name. */
const plain = (word: string): string => word.toLowerCase().replace(/^["'`“”‘’<(]+|["'`“”‘’>),;:.!]+$/g, '');

function unknown(word: string, kind: string | undefined, known: SwitchScopes): Refusal {
  const names =
    kind === 'domain'
      ? known.domains
      : kind === 'target'
        ? known.targets
        : [...known.targets, ...known.domains];
  const number = /^inc[-_#]?(\d+)$/i.exec(plain(word))?.[1];
  const near =
    number !== undefined
      ? `INC-${number}`
      : closestName(plain(word), kind === undefined ? [...names, 'everything'] : names);
  const targets = known.targets.join(', ') || 'none';
  return refuse(
    'UNKNOWN_SCOPE',
    [
      `I know no ${kind ?? 'target, domain or incident'} called “${word.slice(0, 80)}”.`,
      near === null ? `Targets: ${targets}; domains: ${known.domains.join(', ')}.` : `Did you mean ${near}?`,
      `Nothing was changed. ${known.everything}`,
    ].join(' '),
  );
}
