import type { Alert } from '../../core/alert.ts';

/** What monitoring systems call it, in lower case. A word of both kinds in two systems is in neither: their mappings say it. */
const firing = [
  'firing',
  'triggered',
  'trigger',
  'alerting',
  'alert',
  'alarm',
  'open',
  'opened',
  'active',
  'activated',
  'created',
  'problem',
  'down',
  'critical',
  'warning',
  'warn',
  'error',
  'failing',
  'failed',
  'failure',
  'anomalous',
  'new',
  'acknowledged',
  'ack',
  'pending',
  'fired',
  'no data',
  'nodata',
  'unreachable',
  'regressed',
  'escalated',
  'reopened',
  'renotify',
  're-triggered',
];
const resolved = [
  'resolved',
  'resolve',
  'ok',
  'closed',
  'close',
  'recovered',
  'recovery',
  'up',
  'inactive',
  'cleared',
  'deactivated',
  'ended',
  'normal',
  'healthy',
  'success',
  'succeeded',
  'passing',
  'fixed',
  'stopped',
];

/** `NO_DATA`, `No data` and `no-data` are one word. */
const plain = (word: string): string =>
  word
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim();

const common = new Map<string, Alert['status']>([
  ...firing.map((word) => [plain(word), 'firing'] as const),
  ...resolved.map((word) => [plain(word), 'resolved'] as const),
]);

/** Null: a word that means neither. */
export function statusOf(
  word: string | null,
  own: Readonly<Record<Alert['status'], readonly string[]>>,
): Alert['status'] | null {
  const said = plain(word ?? '');
  if (own.firing.some((each) => plain(each) === said)) return 'firing';
  if (own.resolved.some((each) => plain(each) === said)) return 'resolved';
  return common.get(said) ?? null;
}
