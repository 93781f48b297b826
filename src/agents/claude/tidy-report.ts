import { type Severity, severities } from '../../core/alert.ts';
import { clip } from '../../core/clip.ts';
import { withoutMarks } from '../../core/model-words.ts';

/**
 * What models mean well but write otherwise: `root_cause` for `rootCause`, "95 %" for 0.95, one string where a list is
 * wanted, too many words. Put right before a schema judges it; what has no plain meaning is left for the schema to refuse.
 */
export function tidyDiagnosis(input: unknown): unknown {
  const fields = fieldsOf(input);
  if (fields === undefined) return input;
  const take = taker(fields);
  const confidence = share(take('confidence'));
  const rootCause = words(take('rootCause', 'cause', 'summary'), 1_000);
  return {
    verdict: verdictOf(take('verdict', 'outcome'), rootCause, confidence),
    rootCause,
    unexplained: words(take('unexplained'), 1_000) ?? null,
    category: snake(take('category')),
    confidence,
    evidence: list(take('evidence', 'claims')).slice(0, 12).map(tidyEvidence),
    fixConfidence: numberOrNull(share(take('fixConfidence', 'confidenceOfFix', 'remedyConfidence'))),
    hypotheses: list(take('hypotheses', 'alternatives')).slice(0, 6).flatMap(tidyHypothesis),
    onset: moment(take('onset', 'onsetTime', 'startedAt', 'since')),
    chain: sentences(take('chain', 'causalChain')),
    symptomNow: tidySymptom(take('symptomNow', 'symptomPresent')),
    changes: list(take('changes', 'change', 'judgedChanges'))
      .slice(0, 8)
      .flatMap(tidyChange),
    ruledOut: sentences(take('ruledOut')),
    unknown: sentences(take('unknown', 'unknowns')),
    missed: list(take('missed')).slice(0, 8).map(String),
    wouldChangeMyMind: words(take('wouldChangeMyMind'), 1_000) ?? null,
    blastRadius: words(take('blastRadius'), 1_000) ?? null,
    remedy: words(take('remedy', 'fix', 'recommendation'), 1_000) ?? null,
    runbookId: words(take('runbookId', 'runbook'), 200) ?? null,
  };
}

export function tidyNoAction(input: unknown): unknown {
  const fields = fieldsOf(input);
  return fields === undefined ? input : { reason: words(taker(fields)('reason', 'summary'), 1_000) };
}

export function tidyTriage(alerted: Severity): (input: unknown) => unknown {
  return (input) => {
    const fields = fieldsOf(input);
    if (fields === undefined) return input;
    const take = taker(fields);
    const severity = String(take('severity')).toLowerCase();
    return {
      severity: severities.find((known) => known === severity) ?? alerted,
      incidentType: snake(take('incidentType', 'type', 'category')),
      routine: isTrue(take('routine')),
      ignore: isTrue(take('ignore')),
      reason: words(take('reason', 'summary', 'rootCause'), 1_000) ?? 'No reason was given.',
    };
  };
}

export function tidyExplanations(input: unknown): unknown {
  const fields = fieldsOf(input);
  if (fields === undefined) return input;
  const named = list(taker(fields)('explanations', 'hypotheses')).flatMap((each) => {
    const one = fieldsOf(each);
    if (one === undefined) return [];
    const take = taker(one);
    const cause = words(take('cause', 'explanation', 'hypothesis'), 300);
    const disprovedBy = words(take('disprovedBy', 'read', 'test'), 1_000);
    return cause === undefined || disprovedBy === undefined ? [] : [{ cause, disprovedBy }];
  });
  // Named twice, it is one.
  const differing = new Map(named.toReversed().map((each) => [letters(each.cause), each]));
  return { explanations: [...differing.values()].toReversed().slice(0, 6) };
}

export function tidyTest(input: unknown): unknown {
  const fields = fieldsOf(input);
  if (fields === undefined) return input;
  const take = taker(fields);
  const end = snake(take('end', 'verdict', 'outcome', 'state')) ?? 'open';
  return {
    end: end === 'stands' ? end : ENDS[end] === 'ruled_out' || end === 'disproved' ? 'disproved' : 'open',
    says: words(take('says', 'summary', 'text'), 1_000),
    evidence: list(take('evidence', 'claims')).slice(0, 6).map(tidyEvidence),
    unknown: sentences(take('unknown', 'unknowns')),
  };
}

function tidyEvidence(input: unknown): unknown {
  if (typeof input === 'string') return { claim: words(input, 1_000), toolCallIds: [], quote: '' };
  const fields = fieldsOf(input);
  if (fields === undefined) return input;
  const take = taker(fields);
  const quote = literal(take('quote', 'excerpt'), 600) ?? '';
  return {
    claim: words(take('claim', 'statement', 'text'), 1_000) ?? (quote === '' ? undefined : quote),
    toolCallIds: list(take('toolCallIds', 'toolCallId', 'toolCalls', 'toolUseId'))
      .slice(0, 8)
      .map(String),
    quote,
  };
}

/** One without a cause says nothing; where it ended is open unless it says so. */
function tidyHypothesis(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return tidyHypothesis({ cause: input });
  const fields = fieldsOf(input);
  if (fields === undefined) return [];
  const take = taker(fields);
  const cause = words(take('cause', 'hypothesis', 'text'), 300);
  if (cause === undefined) return [];
  const end = snake(take('end', 'state', 'status', 'outcome')) ?? 'open';
  const ids = (...names: readonly string[]): readonly string[] =>
    list(take(...names))
      .slice(0, 8)
      .map(String);
  return [
    {
      cause,
      for: ids('for', 'forIds', 'evidenceFor', 'supports'),
      against: ids('against', 'againstIds', 'evidenceAgainst', 'contradicts'),
      end: ENDS[end] ?? 'open',
    },
  ];
}

const ENDS: Readonly<Record<string, 'ruled_in' | 'ruled_out'>> = {
  ruled_in: 'ruled_in',
  confirmed: 'ruled_in',
  ruled_out: 'ruled_out',
  refuted: 'ruled_out',
  rejected: 'ruled_out',
};

/** One that is only named is a suspect; without a name it is none. */
function tidyChange(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return tidyChange({ ref: input });
  const fields = fieldsOf(input);
  if (fields === undefined) return [];
  const take = taker(fields);
  // “c1: shop-api 1.4.2”, “[c1]”
  const ref = /\bc\d+\b/i.exec(String(take('ref', 'id', 'change', 'name') ?? ''))?.[0].toLowerCase();
  const part = snake(take('part', 'verdict', 'role', 'state')) ?? '';
  const toolCallIds = list(take('toolCallIds', 'toolCallId', 'toolCalls', 'evidence'))
    .slice(0, 8)
    .map(String);
  return ref === undefined ? [] : [{ ref, part: PARTS[part] ?? 'suspect', toolCallIds }];
}

const PARTS: Readonly<Record<string, 'cause' | 'unrelated'>> = {
  cause: 'cause',
  root_cause: 'cause',
  caused_it: 'cause',
  unrelated: 'unrelated',
  not_related: 'unrelated',
  harmless: 'unrelated',
  ruled_out: 'unrelated',
};

/** Without the call that shows it nobody knows. */
function tidySymptom(input: unknown): unknown {
  const fields = fieldsOf(input);
  if (fields === undefined) return null;
  const take = taker(fields);
  const [call] = list(take('toolCallId', 'toolCallIds', 'toolUseId'));
  const present = take('present', 'now', 'value');
  return call === undefined || present === undefined
    ? null
    : { present: isTrue(present), toolCallId: String(call), bound: tidyBound(take('bound', 'healthy')) };
}

/** `{ value: 60, unit: "%" }` and "60 %" are the same; what is no number with a unit is none. */
function tidyBound(input: unknown): unknown {
  const fields = fieldsOf(input);
  const [value, unit] = fields
    ? [fields.get('value'), fields.get('unit') ?? '']
    : (/^\s*([\d.]+)\s*(.*)$/u.exec(typeof input === 'string' ? input : '') ?? []).slice(1);
  const number = Number(value ?? Number.NaN);
  return Number.isFinite(number) && typeof unit === 'string'
    ? { value: number, unit: unit.trim().slice(0, 20) }
    : null;
}

/** ISO 8601; null for what is no moment. */
function moment(value: unknown): string | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

const numberOrNull = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= 1 ? value : null;

/** An object's fields, also of one that was wrapped once more (`{"report": {…}}`). */
function fieldsOf(input: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const entries = Object.entries(input);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && /report|diagnosis|triage|input/i.test(only[0])) {
    const inner = fieldsOf(only[1]);
    if (inner !== undefined) return inner;
  }
  return new Map(entries.map(([name, value]) => [plain(name), value]));
}

const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

function taker(fields: ReadonlyMap<string, unknown>): (...names: readonly string[]) => unknown {
  return (...names) => names.map((name) => fields.get(plain(name))).find((value) => value !== undefined);
}

/** 0.95, 95, "95 %" and "0.95" are the same. */
function share(value: unknown): unknown {
  const number = typeof value === 'string' ? Number(value.replace('%', '').trim() || 'none') : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return value;
  const percent = number > 1 || (typeof value === 'string' && value.includes('%'));
  return percent && number <= 100 ? number / 100 : number;
}

function verdictOf(value: unknown, cause: string | undefined, confidence: unknown): unknown {
  if (typeof value === 'string') return snake(value);
  if (value !== undefined && value !== null) return value;
  return cause !== undefined && typeof confidence === 'number' && confidence >= 0.5
    ? 'cause_found'
    : 'cannot_tell';
}

/** On one line, so that none of it begins a line that reads as ours; at most `max` characters; undefined when there are none. */
function words(value: unknown, max: number): string | undefined {
  return typeof value === 'string' ? literal(withoutMarks(value).replace(/\s+/g, ' '), max) : undefined;
}

/** The same of what has to stand as it is. */
function literal(value: unknown, max: number): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  return clip(value.trim(), max);
}

function sentences(value: unknown): readonly string[] {
  return list(value)
    .flatMap((each) => words(each, 600) ?? [])
    .slice(0, 12);
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null || value === '' ? [] : [value];
}

function snake(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const name = value
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '')
    .slice(0, 64);
  return name === '' ? null : name;
}

const isTrue = (value: unknown): boolean => value === true || value === 'true';
