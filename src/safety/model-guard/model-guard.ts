import { createHmac } from 'node:crypto';
import type { Json } from '../../core/tool-call.ts';
import { findInjection } from '../injection/find-injection.ts';
import { redact } from '../screen/redact.ts';
import { NUMBERS, type PersonalNames, personalNames, redactPersonal } from '../screen/redact-personal.ts';

/** What reads like instructions to the model in text that is data: where it stood, and which kinds. Never the text. */
export interface Suspicion {
  readonly where: string;
  readonly kinds: readonly string[];
}

export interface GuardPolicy {
  /** `mark`: named to the model as suspicious data; `block`: kept from it. */
  readonly injection: 'mark' | 'block';
  /** Hide private addresses too. */
  readonly privateIps: boolean;
}

/** Layer 2: what stands between an incident and the model, both ways. */
export interface ModelGuard {
  /** For one role's history. Deterministic: the same text of an incident always leaves as the same bytes. */
  history(incidentId: string): GuardedHistory;
  /** Puts on record and into the audit log what was found, each once. */
  report(incidentId: string, role: string, found: readonly Suspicion[]): Promise<void>;
}

export interface GuardedHistory {
  /** Text on its way to the model: secrets and personal data as placeholders. Throws when it cannot be screened. */
  hide(text: string): string;
  /** What the model wrote, with the values behind the placeholders of this history. Those of secrets stay. */
  restore(value: Json): Json;
  /**
   * Data of others: every string in it that reads like instructions is found, and withheld where the policy says so.
   * `where` leads to it.
   */
  inspect(data: Json, where: string): { readonly data: Json; readonly found: readonly Suspicion[] };
}

export function createModelGuard(deps: {
  /** Of the deployment, secret: what placeholders are made with. */
  readonly key: string;
  readonly policy: GuardPolicy;
  readonly report: ModelGuard['report'];
}): ModelGuard {
  const { key, policy } = deps;
  return {
    report: deps.report,
    history(incidentId) {
      const names = incidentNames(key, incidentId);
      return {
        hide: (text) => redactPersonal(redact(text), { privateIps: policy.privateIps, names }),
        restore: (value) => walk(value, '', (text) => names.restore(text)),
        inspect(data, where) {
          const found: Suspicion[] = [];
          const seen = walk(data, where, (text, place) => {
            const kinds = kindsIn(text);
            if (kinds.length === 0) return text;
            found.push({ where: place, kinds });
            return policy.injection === 'block' ? withheld(kinds) : text;
          });
          return { data: seen, found };
        },
      };
    },
  };
}

/**
 * Placeholders for people and hosts, made from the value itself: the same in every role, process and restart of an
 * incident, so that a history stays byte for byte what it was; another in another incident; no guessing back without `key`.
 */
function incidentNames(key: string, incidentId: string): PersonalNames {
  return personalNames((_, what) => {
    const digest = createHmac('sha256', key).update(`${incidentId}\n${what}`).digest();
    return digest.readUInt32BE(0) % NUMBERS;
  });
}

/** Shorter texts hold no instruction. */
const MIN_LENGTH = 12;

function kindsIn(text: string): readonly string[] {
  if (text.length < MIN_LENGTH) return [];
  return [...new Set(findInjection(text).map((finding) => finding.class))];
}

const withheld = (kinds: readonly string[]): string =>
  `[withheld: it reads like instructions to you (${kinds.join(', ')}); people find it in the record]`;

/** What a tool has shown one role, and another is told of: known by the tool's name, as where it was read. */
const SHOWN = /^(?:looked|evidence_outputs)\[\d+\]$/;

function walk(value: Json, where: string, change: (text: string, where: string) => string): Json {
  if (typeof value === 'string') return change(value, where);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json, index) => walk(item, `${where}[${index}]`, change));
  const fields = value as Record<string, Json>;
  const from = SHOWN.test(where) ? String(fields['tool']) : where;
  return Object.fromEntries(
    Object.entries(fields).map(([key, item]) => [
      key,
      walk(item, from === '' ? key : `${from}.${key}`, change),
    ]),
  );
}
