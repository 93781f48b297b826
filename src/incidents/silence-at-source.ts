import { severityLabels } from '../core/alert.ts';
import { ENVIRONMENT_LABELS, isSameEnvironment } from '../core/environment.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import { type IncidentId, parseIncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import { SILENCE_TOOL } from '../core/silence-tool.ts';
import type { Target } from '../core/target.ts';
import { type AlertFacts, HIDDEN } from '../safety/alert-matcher.ts';
import { readSpan } from '../safety/kill-switch/parse-kill-switch.ts';
import { alertFacts } from './alert-facts.ts';
import { askForApproval, atWork, waitsForPeople } from './ask-for-approval.ts';
import { labelOf } from './correlation/correlate.ts';
import type { InvestigationDeps } from './deps.ts';
import type { Steered } from './steering.ts';

const EXAMPLE = 'For example: /sentry silence INC-3 2h';

type Deps = InvestigationDeps & {
  readonly targets: ReadonlyMap<string, Target>;
  /** Targets on which alerts can be silenced. */
  readonly canSilence: (target: Target) => boolean;
  /** Whether a label says which thing is ill, and not who noticed it. */
  readonly isIdentifying: (label: string) => boolean;
};

export interface Silencing {
  /** `[INC-3] 2h [at alerts-1]`: asks for it with the incident's own labels; nothing is silenced before somebody approves it. */
  ask(text: string, by: string, here: IncidentId | null): Promise<Steered>;
}

export function createSilencing(deps: Deps): Silencing {
  return {
    async ask(text, by, here) {
      const answer = await ask(deps, text, by, here);
      await deps.audit.append({
        kind: answer.ok ? 'silence.asked' : 'silence.refused',
        actor: by,
        details: { text: deps.redact(text.slice(0, 200)), ...(answer.ok ? {} : { code: answer.code }) },
      });
      return answer;
    },
  };
}

async function ask(deps: Deps, text: string, by: string, here: IncidentId | null): Promise<Steered> {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const id = /^inc-/i.test(words[0] ?? '') ? parseIncidentId(words.shift() ?? '') : here;
  if (!id) return refuse('UNKNOWN_INCIDENT', `Say which incident, and for how long. ${EXAMPLE}`);
  if (words[0]?.toLowerCase() === 'for') words.shift();
  const [span = '', at, named, ...rest] = words;
  const forMs = readSpan(span);
  if (forMs === undefined)
    return refuse('BAD_TIME', `Say for how long: 30m, 2h or 1d. Nothing is silenced. ${EXAMPLE}`);
  if (rest.length > 0 || (at !== undefined && (at.toLowerCase() !== 'at' || named === undefined)))
    return refuse('UNKNOWN_TARGET', `After the time only “at” and a target may follow. ${EXAMPLE}`);
  const incident = await deps.records.incident(id);
  if (!incident) return refuse('UNKNOWN_INCIDENT', `There is no ${id}.`);
  if (!waitsForPeople(incident)) return atWork(incident);
  const alerts = await alertFacts(deps.sql, incident);
  const target = targetFor(deps, incident, alerts, named);
  if (typeof target !== 'string') return target;
  const shared = sharedLabels(alerts, deps.isIdentifying);
  if (!shared.ok) return shared;
  const { labels } = shared;
  const asked = await askForApproval(deps, incident, {
    role: 'surgeon',
    request: {
      tool: SILENCE_TOOL,
      target,
      input: { labels, minutes: Math.max(1, Math.round(forMs / 60_000)), incident: id },
      proposal: {
        why: 'A person wants the source to keep quiet about it for a while. It mends nothing.',
        runbookId: null,
        verify: null,
      },
    },
    purpose: 'To silence it at the source',
    by,
    prevents: true,
    reason: 'A person asks to silence its alert at the source.',
    nextStep: 'Waiting for somebody to approve the silence.',
  });
  if (asked.kind === 'proposed')
    return {
      ok: true,
      text: `Asked for: its card in the thread of ${id} waits for an approval. Nothing is silenced yet.`,
    };
  return asked.kind === 'ok'
    ? refuse('NOT_ACTIVE', 'Nothing was asked for.')
    : refuse(asked.code, `Nothing was asked for. ${asked.reason}`);
}

/** The one that is named, else the incident's neighbour, else that of its environment, else the only one there is. */
function targetFor(
  { targets, canSilence }: Deps,
  { id, target: own }: Incident,
  [alert]: readonly AlertFacts[],
  named: string | undefined,
): string | Refusal {
  const able = [...targets.values()].filter((target) => canSilence(target));
  const names = able.map(({ name }) => name);
  if (named !== undefined)
    return names.includes(named)
      ? named
      : refuse('UNKNOWN_TARGET', `Alerts cannot be silenced at “${named.slice(0, 80)}”. ${among(names)}`);
  const system = targets.get(own ?? '');
  const near = (system?.neighbours ?? []).filter((name) => names.includes(name));
  const environment =
    system?.environment ??
    (alert === undefined ? null : labelOf({ ...alert, annotations: {} }, ENVIRONMENT_LABELS));
  const here = able.filter((each) => isSameEnvironment(each.environment, environment));
  const [only, ...others] = near.length > 0 ? near : names.length > 1 ? here.map(({ name }) => name) : names;
  if (only !== undefined && others.length === 0) return only;
  return refuse(
    'UNKNOWN_TARGET',
    names.length === 0
      ? among(names)
      : `Which one has the alert is not clear, so nothing is silenced. Say it: /sentry silence ${id} 2h at ${only ?? names[0]}. ${among(names)}`,
  );
}

const among = (able: readonly string[]): string =>
  able.length === 0
    ? 'No Alertmanager is configured where Sentry may silence alerts; an operator can add one to sentry.yaml.'
    : `They can be at ${able.join(', ')}.`;

/** What all alerts of it that fire have in common, of what says which they are. */
function sharedLabels(
  [first, ...others]: readonly AlertFacts[],
  isIdentifying: Deps['isIdentifying'],
): { readonly ok: true; readonly labels: Readonly<Record<string, string>> } | Refusal {
  const shared = Object.entries(first?.labels ?? {}).filter(
    (label): label is [string, string] =>
      typeof label[1] === 'string' && others.every(({ labels }) => labels[label[0]] === label[1]),
  );
  const labels = Object.fromEntries(
    shared.filter(
      ([name, value]) =>
        name === 'alertname' || (value !== '' && (isIdentifying(name) || severityLabels.includes(name))),
    ),
  );
  if (!labels['alertname'])
    return refuse(
      'NO_LABELS',
      'Its alerts have no alert name in common, so they cannot be told from others.',
    );
  if (Object.values(labels).some((value) => value.includes(HIDDEN)))
    return refuse('NO_LABELS', 'A part of its labels is hidden here, so nothing would fit them.');
  const differs = (name: string): boolean =>
    others.some((each) => (each.labels[name] ?? '') !== (first?.labels[name] ?? ''));
  // One that gets worse must not stay unheard.
  if (severityLabels.some(differs))
    return refuse('NO_LABELS', 'Its alerts are of several severities: silence them where they come from.');
  return { ok: true, labels: { ...labels, severity: String(first?.labels['severity'] ?? '') } };
}
