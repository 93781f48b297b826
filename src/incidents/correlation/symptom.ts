import type { Severity } from '../../core/alert.ts';

interface Told {
  readonly title: string;
  readonly alertName: string | null;
  readonly severity: Severity;
  /** What it calls its system: words of a name say nothing of what is wrong. */
  readonly names: readonly string[];
}

/**
 * What an alert says of its system now. `service`: it does not do its work (it is away, fails, is late, jams), which is what a system
 * that stands on an ill one shows. `resource`: it runs out of something of its own. `own`: a problem that neither makes another nor is
 * made by one: what will be, what is planned, what is kept, who was let in.
 */
type Symptom = 'service' | 'resource' | 'own' | 'unknown';

const anyOf = (...words: readonly string[]): RegExp => new RegExp(`\\b(?:${words.join('|')})\\b`, 'i');

/** Not what is, but what will be or should have been. */
const LATER = anyOf(
  'expir\\w*',
  'predict\\w*',
  'forecast\\w*',
  'project(?:ed|ion)',
  'trend\\w*',
  'anomal\\w*',
  'soon',
  'approach\\w*',
  'upcoming',
  'will(?: \\w+)? (?:fill|run|be|exceed|reach|end|expire|exhaust)',
  '(?:with)?in (?:\\d+|a few|the next \\d*) ?(?:h|hours?|d|days?|weeks?)',
  '(?:hours?|days?|weeks?) (?:left|until|to|remaining)',
  'renew\\w*',
  'due (?:in|on|by|date)',
  'overdue',
  'end of (?:life|support)',
  'eol',
  'deprecat\\w*',
  'outdated',
  'obsolete',
  'unsupported',
  '(?:update|upgrade|patch|version)s? (?:available|pending|required)',
  'reboot required',
  'scheduled',
  'maintenance',
);
/** Copies, papers, money and who gets in. */
const KEPT = anyOf(
  'cert(?:s|ificates?)?',
  'x509',
  'back ?ups?',
  'snapshots?',
  'dumps?',
  'restore',
  'archiv\\w*',
  'retention',
  'wal',
  'licen[cs]\\w*',
  'quota',
  'cost\\w*',
  'budget alert',
  'spend\\w*',
  'billing',
  'invoice\\w*',
  'idle',
  'unused',
  'orphan\\w*',
  'secur\\w*',
  'audit\\w*',
  'cve(?:-\\S+)?',
  'vulnerab\\w*',
  'malware',
  'intrusion',
  'brute',
  'suspicious',
  'unusual',
  'exposed',
  'log[ -]?ins?',
  'sign[ -]?ins?',
  'password\\w*',
  'privilege\\w*',
  'unauthori[sz]ed',
  'forbidden',
  'permission\\w*',
  'policy',
  'complian\\w*',
  'scan\\w*',
  '4xx',
  '4\\d\\ds?',
  'drift\\w*',
  'out of sync',
  'config(?:uration)?',
  'reload\\w*',
  '(?:version|schema|checksum|generation|replicas?) mismatch',
  'duplicate\\w*',
  'bloat\\w*',
  'vacuum\\w*',
  'wraparound',
  'fragment\\w*',
  'statistics',
  'ntp',
  'clock',
  'raid',
  'smart',
  'fan',
  'temperature',
  'battery',
  'standby',
  'replicas?',
  'replication',
  'secondary',
  'redundan\\w*',
  'spare',
);
/** What proves that alerts arrive, and work that has an hour of its own. */
const NOT_A_PROBLEM = anyOf(
  'watchdog',
  'dead ?man\\w*',
  'heartbeat test',
  'always firing',
  'inhibitor',
  'test(?:s|ing)?(?: alert)?',
  'drill',
  'dummy',
  'demo',
  'cron\\w*',
  'nightly',
  'weekly',
  'daily',
  'batch',
  'report(?:s|ing)?',
  'jobs?',
  'etl',
  'export',
  'import',
  'newsletter',
  'third[ -]party',
  'external',
  'vendor',
  'provider',
  'partner',
  'ci',
  'pipeline',
  'lint\\w*',
);
const RESOURCE = anyOf(
  'cpu',
  'load(?: average)?',
  'memory',
  'mem',
  'ram',
  'oom\\w*',
  'heap',
  'swap',
  'disk',
  'filesystem',
  'file system',
  'volume',
  'storage',
  'space',
  'inodes?',
  'io',
  'iops',
  'i/o',
  'iowait',
  'file descriptors?',
  'bandwidth',
);
/** It does not have some, it has none. */
const EXHAUSTED = anyOf(
  'full',
  'exhaust\\w*',
  'no space',
  'out of \\w+',
  'oom\\w*',
  'saturat\\w*',
  'overload\\w*',
  'read[ -]?only',
  'pegged',
  '100 ?%?',
  'ran out',
);
const SERVICE = anyOf(
  // It is away.
  'down',
  'un(?:available|reachable|responsive|healthy)',
  'outage',
  'offline',
  '(?:not|no longer|stopped|never) (?:respond|answer|reply|accept|serv|work|run|reach|ready|listen|up)\\w*',
  'no (?:response|healthy|available|ready|reply|answer|connection|endpoints?|heartbeat)\\w*',
  "(?:cannot|can't|could not|couldn't|unable to) \\w+",
  'crash\\w*',
  'dead',
  'died',
  'exited',
  'gone',
  'lost',
  'kill\\w*',
  'restart\\w*',
  'refus\\w*',
  'disconnect\\w*',
  'hung',
  'hang\\w*',
  'freez\\w*',
  'frozen',
  'stall\\w*',
  'stuck',
  // It fails.
  'fail\\w*',
  'errors?',
  'error \\w+',
  '5xx',
  '5\\d\\ds?',
  'exceptions?',
  'panic\\w*',
  'abort\\w*',
  'reject\\w*',
  'burn(?:ing)?(?: ?rate)?',
  'slo',
  'availability',
  'success rate',
  'degrad\\w*',
  'broken',
  'reset',
  // It is late, or jams.
  'latenc\\w*',
  'slow\\w*',
  'p\\d{2,3}',
  'response times?',
  'time ?outs?',
  'timed? ?out\\w*',
  'timing out',
  'delay\\w*',
  'lag\\w*',
  'late',
  'took (?:too )?long\\w*',
  'seconds per \\w+',
  'backlog\\w*',
  'queu\\w*',
  'pil(?:e|ing) up',
  'congest\\w*',
  'throttl\\w*',
  'block\\w*',
  'dead ?locks?',
  'locks?',
  'contention',
  'too many (?:connections|clients|requests)',
  'connections? (?:pool|limit|slots?|exhaust\\w*|saturat\\w*|storm)',
  '(?:pool|slots|connections|threads|workers) (?:is |are )?(?:all )?(?:exhausted|busy|full|in use|used up|saturated)',
  'apdex',
);

/** Words of an alert as people read them, without the names of its system: `KubePodCrashLooping` is three. */
function wordsOf({ title, alertName, names }: Told): string {
  const said = `${apart(alertName ?? '')} ${title}`;
  return apart(names.reduce((text, name) => text.replace(nameIn(name), ' '), said))
    .replaceAll(/[_:;,()[\]"]+/g, ' ')
    .replaceAll(/\s+/g, ' ');
}

const apart = (text: string): string =>
  text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');

/** `billing-api` also as `Billing API`. One word is a name only where it stands as one: `backup failed` is of a backup. */
function nameIn(name: string): RegExp {
  const parts = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const whole = parts.join('[^A-Za-z0-9]*');
  if (parts.length === 0) return /(?!)/;
  return parts.length > 1
    ? new RegExp(`\\b${whole}\\b`, 'gi')
    : new RegExp(
        `(?<=\\b(?:on|for|of|in|at|from|to) )${whole}\\b|\\b${whole}(?=:|'s| (?:is|has|service|server|api)\\b)`,
        'gi',
      );
}

/** What one's own words say of it: the doubtful is none of what others could follow from. */
export function symptomOf(told: Told): Symptom {
  const words = wordsOf(told);
  if (told.severity === 'info' || [LATER, KEPT, NOT_A_PROBLEM].some((kind) => kind.test(words))) return 'own';
  if (RESOURCE.test(words)) return 'resource';
  return SERVICE.test(words) ? 'service' : 'unknown';
}

/** Whether what stands on it suffers: it does not do its work, or has nothing left to do it with. */
export function harmsOthers(told: Told): boolean {
  const symptom = symptomOf(told);
  if (symptom !== 'resource') return symptom === 'service';
  const words = wordsOf(told);
  return EXHAUSTED.test(words) || SERVICE.test(words) || ['critical', 'error'].includes(told.severity);
}

/** Whether another's trouble may be why: a full disk is one's own, a late answer need not be. */
export const mayFollow = (told: Told): boolean => symptomOf(told) === 'service';
