import { maskedLine, withoutColours } from './masked-line.ts';
import { inItsOwnWords, type RecognisedEnd, recogniseEnd } from './recognised-ends.ts';

/** How grave a service itself calls a line; null where it does not say. */
export type Gravity = 'calm' | 'warning' | 'error' | 'fatal';

/** What a line can mean for the end of the process that wrote it. */
export type LineKind =
  /** It states a reason to end that is known. */
  | {
      readonly kind: 'reason';
      readonly end: RecognisedEnd & { readonly generic: boolean };
      readonly fatal: boolean;
    }
  /** Something went wrong; what, is not known, or it says itself that it goes on. */
  | { readonly kind: 'trouble'; readonly goesOn: boolean }
  /** It was told to stop, or is about to. */
  | { readonly kind: 'stopping'; readonly told: boolean }
  /** It is coming up. */
  | { readonly kind: 'starting' }
  /** Belongs to the line before: a stack frame, a hint, how it is called. */
  | { readonly kind: 'continued' }
  /** Nothing in it speaks of an end; `calm`: the service itself says so. */
  | { readonly kind: 'plain'; readonly calm: boolean }
  | { readonly kind: 'unclear' };

const GRAVITIES: Readonly<Record<string, Gravity>> = {
  trace: 'calm',
  debug: 'calm',
  verbose: 'calm',
  info: 'calm',
  information: 'calm',
  notice: 'calm',
  log: 'calm',
  warn: 'warning',
  warning: 'warning',
  err: 'error',
  error: 'error',
  severe: 'error',
  crit: 'fatal',
  critical: 'fatal',
  alert: 'fatal',
  emerg: 'fatal',
  emergency: 'fatal',
  fatal: 'fatal',
  panic: 'fatal',
};
const NAMES = Object.keys(GRAVITIES).join('|');
/** pino and bunyan count: 30 is info. */
const NUMBERED = /"level"\s*:\s*(\d\d)\b/;
const LABELLED = new RegExp(
  `["']?\\b(?:level|lvl|severity|levelname|log\\.level|loglevel)["']?\\s*[=:]\\s*["']?(${NAMES})\\b`,
  'i',
);
const BRACKETED = new RegExp(`^.{0,60}?[[(<|]\\s*(?:\\w+[:.])?(${NAMES})\\s*[\\])>|]`, 'i');
const SHOUTED = new RegExp(`^.{0,80}?(?:^|[\\s|:;,-])(${NAMES.toUpperCase()})(?=$|[\\s:|,\\]-])`);
const LED = new RegExp(`^(?:[\\w./-]+(?:\\[\\d+\\])?:\\s+){0,2}(${NAMES})(?: error)?:\\s`, 'i');
const KLOG = /^([IWEF])\d{4}\s+\d\d:\d\d/;

/** As the service calls it, in the places where loggers put it. */
export function gravityOf(raw: string): Gravity | null {
  const line = withoutColours(raw);
  const number = Number(NUMBERED.exec(line)?.[1] ?? 0);
  if (number > 0) return number < 40 ? 'calm' : number < 50 ? 'warning' : number < 60 ? 'error' : 'fatal';
  const klog = KLOG.exec(line)?.[1];
  if (klog !== undefined)
    return klog === 'I' ? 'calm' : klog === 'W' ? 'warning' : klog === 'E' ? 'error' : 'fatal';
  const name = [LABELLED, BRACKETED, LED, SHOUTED].map((pattern) => pattern.exec(line)?.[1]).find(Boolean);
  return name === undefined ? null : (GRAVITIES[name.toLowerCase()] ?? null);
}

const CONTINUED =
  /^\s+\S|^[\])}>|^~=*#.-]+$|^(?:at |caused by:?$|\.\.\. \d+ (?:more|common)|goroutine \d+|created by |main\.\w+\(|runtime\.|note: |hint: |help: |usage:?|try ['"`]?|see ['"`]|run ['"`]|for more |node\.js v\d|exit status \d+$|stack (?:backtrace|trace)|during handling of|the above exception|(?:detail|context|statement|location|action|description|reason):|errno:?|\d+: 0x[0-9a-f]|[-=<]{3}.*[-=>]{3}$|code:|syscall:|address:|require stack|-{1,2}[a-z]|- \S|npm (?:err|error)!|\[signal |\s*\^|#(?:\d+)?\s|thrown in )|^.{0,80}?\b(?:HINT|DETAIL|CONTEXT|STATEMENT|LOCATION): /i;
const ON_ITS_WAY_OUT =
  /\b(?:exit(?:ing|s)?|cannot (?:continue|go on|start|run)|can'?t (?:continue|start)|giving up|gave up|abort(?:ing|ed)?|terminat(?:e|ing|ed)|bail(?:ing)?(?: out)?|shutting down|stopping|quit(?:ting)?|unable to (?:start|continue)|refus(?:e|es|ing) to (?:start|run)|failed to (?:start|initiali[sz]e|boot)|startup failed|dying|halt(?:ing|ed)?)\b/i;
const SURVIVES =
  /\b(?:retr(?:y|ies|ying)|(?:try|tries|trying|tried) (?:again|later|in)|will try|next attempt|attempt \d+|reconnect\w*|continu(?:e|es|ing)|ignor(?:e|ed|es|ing)|fall(?:s|ing)? back|fallback|skip(?:ped|s|ping)?|using (?:the )?default|instead|degraded|dropped|requeued?|backing off|backoff)\b/i;
const TOLD =
  /\b(?:sig(?:term|int|quit)|signal(?: \w+)?:? (?:15|2|3|term|int|quit|terminated|interrupt)|received (?:stop|shutdown|terminat\w+)|stop requested|told to stop|graceful\w*|interrupted by|ctrl-?c)\b/i;
const STOPPING =
  /\b(?:shut(?:ting)? ?down|shutdown|stopp(?:ing|ed)|stops?|exit(?:ing|ed|s)?|terminat(?:ing|ed)|clos(?:ing|ed)|good ?bye|bye|quit(?:ting)?|drain(?:ing|ed)|finish(?:ed|ing)|complet(?:e|ed)|done|ended|over|leaving|flush(?:ed|ing)|clean(?:ing|ed)? ?up)\b/i;
/** Words that only a process uses of itself. */
const LEAVING =
  /\b(?:shut(?:ting)? ?down|shutdown|stopping|stopped|exit(?:ing|ed)|terminating|good ?bye|bye)\b/i;
const COMING_UP =
  /\b(?:starting|starts|booting|launching|initiali[sz]ing|loading|reading|opening|connecting|bootstrapping|spawning|migrating|preparing|warming)\b/i;
/** Wide on purpose: it only keeps a line from being called ordinary. */
const TROUBLE =
  /n't\b|\b(?:err(?:or|ors|no)?|\w*(?:error|exception)s?|fail\w*|fatal|panic\w*|cannot|could not|unable|not|no|none|never|without|nothing|lost|lose|denied|deny|refus\w*|reject\w*|invalid|illegal|unknown|unexpected|unrecogni[sz]\w*|unsupported|missing|lack\w*|required|requires|must|expired?|exceed\w*|limit\w*|time ?outs?|timed|abort\w*|kill\w*|signal\w*|crash\w*|corrupt\w*|broken|broke|damaged|disconnect\w*|dead|died|dies|dying|fault\w*|bad|wrong|full|exhaust\w*|overflow\w*|out of|insufficient|too|already|in use|conflict\w*|mismatch\w*|violat\w*|unauthor\w*|forbidden|revoked|giv(?:e|ing) up|halt\w*|gone|problem\w*|warn\w*|alert\w*|critical|emerg\w*|severe|stuck|hang\w*|leak\w*|throttl\w*|shortage|disabled|deprecated|obsolete|usage|traceback|stack|core|dump\w*|oom|empty|zero|nil|null|nan|undefined)\b/i;
const STATED_TROUBLE =
  /\b(?:error|errors|exception|fatal|panic|failed|failure|traceback|crit(?:ical)?|cannot|can't|could not|unable to|denied|refused|abort(?:ed)?)\b/i;

/** Characters of a line that are judged: the patterns take the square of a line's length, and a service writes what it likes. */
const JUDGED = 2_000;

export function lineKind(raw: string): LineKind {
  if (raw.length <= JUDGED) return kindOf(raw);
  const is = kindOf(raw.slice(0, JUDGED));
  // What was not looked at may speak of anything.
  return is.kind === 'plain' ? { kind: 'unclear' } : is;
}

function kindOf(raw: string): LineKind {
  const line = withoutColours(raw);
  const text = line.trim();
  const gravity = gravityOf(line);
  const leaves = ON_ITS_WAY_OUT.test(text);
  if (TOLD.test(text)) return { kind: 'stopping', told: true };
  const frame = /^\s+at |^\s*(?:at |\.\.\. \d+ )|^\s+File "|^\t?\S+\.go:\d+|^goroutine /.test(line);
  const known = frame ? undefined : recogniseEnd(gravity === null ? withoutQuotations(text) : text);
  if (!frame && !survivable(text, gravity, leaves)) {
    const end = known ?? (gravity === 'fatal' ? inItsOwnWords() : undefined);
    if (end !== undefined) return { kind: 'reason', end, fatal: gravity === 'fatal' || leaves };
  }
  if (known !== undefined && gravity === 'calm') return { kind: 'unclear' };
  if (gravity === 'fatal' || gravity === 'error' || gravity === 'warning')
    return { kind: 'trouble', goesOn: !leaves && SURVIVES.test(text) };
  if (gravity === null && CONTINUED.test(line)) return { kind: 'continued' };
  if (gravity === null && STATED_TROUBLE.test(text))
    return { kind: 'trouble', goesOn: !leaves && SURVIVES.test(text) };
  const leaving = LEAVING.test(text) || (gravity === 'calm' && STOPPING.test(text));
  if (leaving && !TROUBLE.test(withoutZeros(text))) return { kind: 'stopping', told: false };
  if (TROUBLE.test(withoutZeros(text))) return { kind: 'unclear' };
  if (COMING_UP.test(text)) return { kind: 'starting' };
  return { kind: 'plain', calm: gravity === 'calm' };
}

/** What a service goes on after: it says so, or calls it no error and does not leave. */
function survivable(text: string, gravity: Gravity | null, leaves: boolean): boolean {
  if (leaves) return false;
  return gravity === 'calm' || gravity === 'warning' || (gravity !== 'fatal' && SURVIVES.test(text));
}

/** What others have said, a request or a message; not the fields of a structured line. */
const withoutQuotations = (text: string): string =>
  text.startsWith('{')
    ? text
    : text.replace(/([={][^"]*)?"[^"]*"/g, (quoted, field?: string) =>
        field === undefined && /\s/.test(quoted) ? '""' : quoted,
      );

/** "0 errors", "errors=0" and "error: null" are good news. */
const withoutZeros = (text: string): string =>
  text.replace(
    /\b(?:0|no) (?:errors?|failures?|warnings?)\b|\b(?:errors?|failed|failures?|warnings?)[=: ]+0\b|\berr(?:or)?s?"?\s*[=:]\s*(?:null|nil|none|""|\[\])/gi,
    '',
  );

/** Of a kind that a service writes when it begins. */
export const isBeginning = (line: string): boolean =>
  /\b(?:re)?(?:start(?:s|ed|ing)?(?! of\b)|boot(?:s|ed|ing)?|launch(?:ed|ing)?|initiali[sz](?:ed|ing)|spawned)\b/i.test(
    maskedLine(line),
  );

/** Of a kind that a service writes once it has come up, and seldom later: its version, that it is ready. `mask`: the masked line. */
export const isAnnouncement = (mask: string): boolean =>
  /\bv#(?:\.#)+|\bversion #|\bcopyright\b|\(c\)|\blistening\b|\bready (?:to|for)\b|\baccepting connections\b/i.test(
    mask,
  );
