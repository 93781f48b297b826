import { type Diagnosis, MUTATION_CONFIDENCE, type Triage } from '../../core/diagnosis.ts';
import type { Incident } from '../../core/incident.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import type { Investigation, Investigator } from '../ports.ts';
import { withChanges } from './add-changes.ts';
import { newFindings } from './findings.ts';
import { lookAround } from './look-around.ts';
import { matchRunbooks, type RunbookMatch } from './match-runbook.ts';
import { withPastCause } from './past-cause.ts';
import { plan } from './plan.ts';
import type { Phase } from './read-system.ts';
import { runRunbook } from './run-runbook.ts';
import { otherSubject } from './same-subject.ts';

/** Runbooks tried for one alert; each is a few reads. */
const AT_MOST = 3;

/** Below what an action needs: that an alert's text has a phrase in common with a runbook is no reason to act. */
const MOST_BY_TEXT = MUTATION_CONFIDENCE - 0.05;

export interface PlaybookOptions {
  /** The runbooks that can be followed for an incident, as they are now; asked again in every phase, so that edited ones count. */
  readonly runbooks: (incident: Incident) => readonly Runbook[];
}

/** What the runbook of a known problem shows on the live system, and by which. */
export interface RunbookCheck {
  readonly runbook: Runbook;
  readonly diagnosis: Diagnosis;
}

/**
 * Recall before reasoning: runs the read-only steps of the runbook whose alert or words this is, without a model. Null where
 * none is known for sure: what memory alone finds similar is for the model to judge.
 */
export async function checkKnownProblem(
  { runbooks }: PlaybookOptions,
  work: Investigation,
): Promise<RunbookCheck | null> {
  const known = runbooks(work.incident);
  const [best] = matchRunbooks(known, work.incident, [], work.recall.runbooks);
  if (best === undefined || best.by === 'memory' || work.incident.target === null) return null;
  return { runbook: best.runbook, diagnosis: await diagnoseByOne(work, known, best, 'diagnose') };
}

/** The investigator without a model: finds the runbook that fits and does what it says, on the live system. */
export function createPlaybook(options: PlaybookOptions): Investigator {
  const matches = (work: Investigation) =>
    matchRunbooks(
      options.runbooks(work.incident),
      work.incident,
      work.guidance.map((one) => one.text),
      work.recall.runbooks,
    );
  return {
    name: 'playbook',
    triage: (work) => triage(work, options.runbooks(work.incident), matches(work)[0]),
    diagnose: async (work) => {
      const found = matches(work);
      const byBest = () => diagnoseByBest(work, options.runbooks(work.incident), found, 'diagnose');
      return withChanges(work, await withPastCause(work, found[0]?.by === 'alert', byBest));
    },
    plan,
  };
}

async function triage(
  work: Investigation,
  runbooks: readonly Runbook[],
  match: RunbookMatch | undefined,
): Promise<Triage> {
  const { severity } = work.incident;
  if (match === undefined)
    return {
      severity,
      incidentType: null,
      routine: false,
      ignore: false,
      reason: 'No runbook fits this alert.',
    };
  const { runbook } = match;
  const { reason } = match;
  const known: Triage = {
    severity,
    // A guess names no type: what memory recalls next would only confirm itself.
    incidentType: match.by === 'memory' ? null : runbook.type,
    routine: match.by !== 'memory',
    ignore: false,
    reason,
  };
  if (!runbook.ignoreWhenHealthy || match.by !== 'alert') return known;
  const seen = await diagnoseByOne(work, runbooks, match, 'triage');
  return seen.verdict === 'healthy'
    ? { ...known, ignore: true, reason: `${reason} ${seen.rootCause} The runbook says to ignore it then.` }
    : known;
}

/** An alert's name settles which runbook; where only its texts speak, the next best ones are tried too. Memory decides nothing. */
async function diagnoseByBest(
  work: Investigation,
  runbooks: readonly Runbook[],
  matches: readonly RunbookMatch[],
  phase: 'triage' | 'diagnose',
): Promise<Diagnosis> {
  const [best] = matches;
  if (best === undefined) return lookAround(work, phase, 'No runbook fits this alert.');
  if (work.incident.target === null) return lookAround(work, phase, best.reason);
  const first = await diagnoseByOne(work, runbooks, best, phase);
  if (best.by !== 'text' || first.verdict === 'cause_found') return first;
  for (const next of matches.slice(1, AT_MOST)) {
    const other = await diagnoseByOne(work, runbooks, next, phase);
    if (other.verdict === 'cause_found') return other;
  }
  return first;
}

/**
 * What one look finds gone may have been one of several: its own end, or another incident's, leaves the others. So it is looked
 * at once more from the beginning, and what is found then stands.
 */
async function diagnoseByOne(
  work: Investigation,
  runbooks: readonly Runbook[],
  match: RunbookMatch,
  phase: 'triage' | 'diagnose',
): Promise<Diagnosis> {
  const first = await follow(work, runbooks, match, phase);
  const { diagnosis } = first.isPassing ? await follow(work, runbooks, match, `${phase}:again`) : first;
  return diagnosis;
}

async function follow(
  work: Investigation,
  runbooks: readonly Runbook[],
  match: RunbookMatch,
  phase: Phase,
): Promise<{ readonly diagnosis: Diagnosis; readonly isPassing: boolean }> {
  work.say(`Following the runbook "${match.runbook.title}".`);
  const followed = new Set<string>();
  let runbook: Runbook | undefined = match.runbook;
  let findings = newFindings();
  while (runbook !== undefined && !followed.has(runbook.id)) {
    followed.add(runbook.id);
    const end = await runRunbook(work, runbook, phase, findings);
    if (end.kind === 'diagnosis')
      return { diagnosis: weigh(end.diagnosis, match, work.incident), isPassing: end.isPassing };
    findings = end.findings;
    runbook = runbooks.find((one) => one.id === end.runbook && one.domains.includes(work.incident.domain));
  }
  const diagnosis = await lookAround(
    work,
    phase,
    `The runbook "${match.runbook.title}" hands over to one that cannot be followed.`,
  );
  return { diagnosis, isPassing: false };
}

/** How far a runbook may decide depends on what named it; what its steps have read stands either way. */
function weigh(diagnosis: Diagnosis, match: RunbookMatch, incident: Incident): Diagnosis {
  const { by, runbook, isListed } = match;
  if (diagnosis.verdict === 'healthy') {
    const open = whyOpen(diagnosis, match, incident);
    return open === null ? diagnosis : undecided(diagnosis, `${diagnosis.rootCause} ${open}`);
  }
  if (diagnosis.verdict !== 'cause_found') return diagnosis;
  const shown = `What the runbook "${runbook.title}" looks for is there`;
  if (by === 'memory')
    return undecided(
      diagnosis,
      `I cannot tell what this is. ${shown}, but nothing in the alert says that it is about that: ${diagnosis.rootCause}`,
    );
  const other = otherSubject(runbook, incident, { shown: diagnosis.rootCause, isListed, isFault: true });
  if (other !== null)
    return undecided(
      diagnosis,
      `I cannot tell whether this is what the alert means: it may be about something else (“${other}”). ${shown}: ${diagnosis.rootCause}`,
      isListed ? `If it is, name this alert under "matches" of the runbook ${runbook.id}.` : null,
    );
  return by === 'text'
    ? { ...diagnosis, confidence: Math.min(diagnosis.confidence, MOST_BY_TEXT) }
    : diagnosis;
}

/** Why what a runbook finds in order does not answer the alert; null: it does. */
function whyOpen(
  { rootCause }: Diagnosis,
  { isListed, sided, runbook }: RunbookMatch,
  incident: Incident,
): string | null {
  if (!isListed) return 'Whether that answers this alert, I cannot tell.';
  if (!sided) return 'The alert does not say whether it means too much or too little.';
  const other = otherSubject(runbook, incident, { shown: rootCause, isListed, isFault: false });
  return other === null
    ? null
    : `Whether that answers this alert, I cannot tell: it may be about something else (“${other}”).`;
}

/** What was read stands as evidence; what would follow from the cause does not. */
function undecided(diagnosis: Diagnosis, rootCause: string, next: string | null = null): Diagnosis {
  const { hypotheses: _, prevent: __, ...rest } = diagnosis;
  return {
    ...rest,
    verdict: 'cannot_tell',
    category: null,
    confidence: 0,
    rootCause,
    blastRadius: null,
    remedy: next,
    suggested: [],
  };
}
