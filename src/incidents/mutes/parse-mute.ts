import { type Refusal, refuse } from '../../core/errors.ts';
import { type AlertMatcher, readMatcher } from '../../safety/alert-matcher.ts';
import { readSpan } from '../../safety/kill-switch/parse-kill-switch.ts';

/** What somebody asks to be muted. */
export interface ParsedMute {
  readonly ok: true;
  readonly matcher: AlertMatcher;
  readonly forMs: number;
  readonly reason: string;
  /** They have read what it mutes. */
  readonly isConfirmed: boolean;
}

const REASON_MAX = 500;
const EXAMPLE = 'For example: /sentry mute alertname="DiskFull", severity="warning" 2h deploying';

/** `[confirm] <matcher> [for] 2h [because …]`. */
export function parseMute(text: string): ParsedMute | Refusal {
  const given = text.trim();
  const isConfirmed = /^confirm\s/i.test(given);
  const asked = isConfirmed ? given.slice('confirm '.length).trimStart() : given;
  if (asked === '') return refuse('MATCHER', `Say what to mute, and for how long. ${EXAMPLE}`);
  const named = /^inc-\d+/i.exec(asked)?.[0].toUpperCase();
  if (named)
    return refuse(
      'MATCHER',
      `A mute is for alerts, by what they have. To let one incident rest: /sentry stop ${named}`,
    );
  const read = readMatcher(asked);
  if (!read.ok) return refuse(read.code, `${read.reason} ${EXAMPLE}`);
  if (read.matcher.isEverything)
    return refuse(
      'EVERYTHING',
      `That would mute every alert, so nothing is muted. Say which ones by what they have. ${EXAMPLE}`,
    );
  const [first = '', ...rest] = asked.slice(read.end).trim().split(/\s+/);
  const words = first.toLowerCase() === 'for' ? rest : [first, ...rest];
  const forMs = readSpan(words[0] ?? '');
  if (forMs === undefined)
    return refuse(
      'BAD_TIME',
      words[0]
        ? `After the matcher I read “${words[0].slice(0, 40)}”, which is no time: say 30m, 2h or 1d (at most 31d). Conditions are separated by commas. Nothing is muted.`
        : `Say for how long: 30m, 2h or 1d (at most 31d). Nothing is muted. ${EXAMPLE}`,
    );
  const reason = words
    .slice(1)
    .join(' ')
    .replace(/^(?:because|reason)\b\s*/i, '')
    .replace(/^[:;,–—-]+\s*/, '');
  return { ok: true, matcher: read.matcher, forMs, reason: reason.slice(0, REASON_MAX), isConfirmed };
}
