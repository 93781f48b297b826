import type { Diagnosis, Evidence } from '../../core/diagnosis.ts';
import { evaluate } from '../../runbooks/expression.ts';
import type {
  Runbook,
  RunbookCheck,
  RunbookClaim,
  RunbookStep,
  RunbookTurn,
} from '../../runbooks/runbook.ts';
import { renderInput, renderText } from '../../runbooks/template.ts';
import type { Investigation } from '../ports.ts';
import { concludeShown } from './conclude.ts';
import { cannotTell, type Findings, healthy, newFindings } from './findings.ts';
import { firstLineOf } from './first-line.ts';
import { type Phase, readSystem, unreadable } from './read-system.ts';
import { type OkResult, type Run, ruleOut, told } from './run.ts';
import { verifySteps } from './verify-steps.ts';

export type RunEnd =
  /** `isPassing`: the symptom was there, and what was looked at then is not any more. Others like it may be. */
  | { readonly kind: 'diagnosis'; readonly diagnosis: Diagnosis; readonly isPassing: boolean }
  | { readonly kind: 'use'; readonly runbook: string; readonly findings: Findings };

/**
 * Runs a runbook's steps on the live system. A cause is only stated where a test held; *healthy* only where every read
 * and test on the way worked; everything else is *cannot tell*.
 */
export async function runRunbook(
  work: Investigation,
  runbook: Runbook,
  phase: Phase,
  findings: Findings = newFindings(),
): Promise<RunEnd> {
  const { incident } = work;
  const run: Run = {
    work,
    phase,
    runbook,
    findings,
    variables: {
      incident: {
        title: incident.title,
        alert: incident.alertName,
        severity: incident.severity,
        target: incident.target,
        labels: incident.labels,
        annotations: incident.annotations,
        round: incident.round,
        occurrences: incident.occurrences,
        // Recorded, so that a replay after a crash judges ages as the first run did.
        age_seconds: await work.durably(`playbook:${phase}:r${incident.round}:${runbook.id}:age`, async () =>
          Math.max(0, (Date.now() - Date.parse(incident.openedAt)) / 1000),
        ),
      },
    },
    answers: new Map(),
    symptom: 'unread',
  };
  let at = 0;
  for (;;) {
    const step = runbook.steps[at];
    if (step === undefined) return { kind: 'diagnosis', diagnosis: nothingHeld(run), isPassing: false };
    const turn = await runStep(run, step);
    if (turn?.kind === 'go') at = runbook.steps.findIndex((other) => other.id === turn.step);
    else if (turn === undefined) at += 1;
    else return finish(run, turn);
    findings.wasShown ||= run.symptom === 'shown';
  }
}

/** "Else it is this" follows only when all the reads and tests before it were made, those of earlier steps too. */
const NOT_BY_EXCLUSION: RunbookTurn = {
  kind: 'cannot_tell',
  says: 'Not everything that would have to be ruled out first could be tested.',
};

async function runStep(run: Run, step: RunbookStep): Promise<RunbookTurn | undefined> {
  const { work, findings, variables } = run;
  const target = targetOf(run, step);
  if (target === undefined) return undefined;
  if (step.neighbour !== undefined) variables['neighbour'] = target;
  const input = renderInput(step.with, variables);
  if (!input.ok) return unread(`${step.call} was not called: ${input.reason}`);
  work.say(`${step.why} …`);
  const result = await readSystem(
    work,
    run.phase,
    // With the neighbour's name: what was read of one is never taken for another's when they are declared anew.
    `${run.runbook.id}:${step.id}${step.neighbour === undefined ? '' : `@${target}`}`,
    step.call,
    input.value,
    step.why,
    step.waitMs,
    target,
  );
  if (result.kind !== 'ok') return unread(unreadable(step.call, result));

  run.answers.set(step.id, result);
  variables[step.id] = result.data;
  variables['result'] = result.data;
  look(run, step);
  for (const check of step.checks) {
    const allTested = !findings.incomplete;
    const held = await runCheck(run, check);
    if (held?.kind === 'conclude' && check.when?.trim() === 'true' && !allTested) return NOT_BY_EXCLUSION;
    if (held !== undefined) return held;
  }
  return undefined;

  function unread(reason: string): undefined {
    findings.unknown.push(reason);
    if (!step.optional) findings.incomplete = true;
  }
}

/**
 * What a step reads: the incident's target, or its one neighbour of that kind. Undefined: there is none, or there are several and
 * nothing says which one it runs on. Such a step is passed over: what nobody could read bars nothing that was read.
 */
function targetOf({ work, findings }: Run, { neighbour: kind }: RunbookStep): string | null | undefined {
  if (kind === undefined) return work.incident.target;
  const found = (work.neighbours ?? []).filter((each) => each.kind === kind);
  if (found.length > 1) {
    const names = found.map(({ name }) => name).join(', ');
    const reason = `Not read: it has several neighbours of the kind ${kind} (${names}).`;
    if (!findings.unknown.includes(reason)) findings.unknown.push(reason);
  }
  return found.length === 1 ? found[0]?.name : undefined;
}

/** Whether the symptom is there, by the step that the runbook names for it. */
function look(run: Run, step: RunbookStep): void {
  const { requires } = run.runbook;
  if (requires?.step !== step.id) return;
  const held = evaluate(requires.when, run.variables);
  if (held.ok && typeof held.value === 'boolean') run.symptom = held.value ? 'shown' : 'absent';
  else untested(run, held.ok ? `\`${requires.when}\` is neither true nor false` : held.reason);
}

/** Undefined: the test did not hold, or it held and the step goes on. */
async function runCheck(run: Run, check: RunbookCheck): Promise<RunbookTurn | undefined> {
  if (check.when !== undefined) {
    const held = evaluate(check.when, run.variables);
    if (!held.ok || typeof held.value !== 'boolean') {
      untested(run, held.ok ? `\`${check.when}\` is neither true nor false` : held.reason);
      return undefined;
    }
    if (!held.value) return undefined;
  }
  for (const [name, expression] of Object.entries(check.let ?? {})) {
    const value = evaluate(expression, run.variables);
    if (!value.ok) {
      untested(run, value.reason);
      return undefined;
    }
    run.variables[name] = value.value;
  }
  for (const claim of check.claims) await record(run, claim);
  if (check.rulesOut !== undefined) ruleOut(run, told(run, check.rulesOut));
  return check.turn;
}

function untested(run: Run, reason: string): void {
  run.findings.incomplete = true;
  run.findings.unknown.push(`A test could not be made: ${reason}.`);
}

async function record(run: Run, claim: RunbookClaim): Promise<void> {
  const says = renderText(claim.says, run.variables);
  const answer = run.answers.get(claim.from);
  const quote = says.ok && answer !== undefined ? quoteFrom(run, answer, claim.quote) : undefined;
  if (says.ok && answer !== undefined && quote !== undefined) {
    const evidence: Evidence = { claim: says.text, toolCallIds: [answer.toolCallId], quote };
    run.findings.evidence.push(evidence);
    return;
  }
  run.findings.incomplete = true;
  const reason = says.ok ? `the output of step ${claim.from} has no line that shows it` : says.reason;
  await run.work.dropped(says.ok ? says.text : claim.says, reason);
}

/** The line of the output that holds all the pieces, as it stands there. */
function quoteFrom(run: Run, answer: OkResult, pieces: readonly string[]): string | undefined {
  const wanted: string[] = [];
  for (const piece of pieces) {
    const rendered = renderText(piece, run.variables);
    if (!rendered.ok || rendered.text === '') return undefined;
    wanted.push(rendered.text);
  }
  const line = answer.text.split('\n').find((text) => wanted.every((piece) => text.includes(piece)));
  return line?.trim();
}

function finish(run: Run, turn: Exclude<RunbookTurn, { kind: 'go' }>): RunEnd {
  const { findings, runbook } = run;
  switch (turn.kind) {
    case 'use':
      handOver(run, turn);
      return { kind: 'use', runbook: turn.runbook, findings };
    case 'conclude':
      return { kind: 'diagnosis', diagnosis: concludeShown(run, turn.conclusion), isPassing: false };
    case 'healthy':
      return {
        kind: 'diagnosis',
        diagnosis:
          findings.incomplete || run.symptom === 'unread'
            ? cannotTell(
                findings,
                runbook.id,
                `${told(run, turn.says)} But not everything could be read.`,
                null,
              )
            : healthy(withLastLook(run, told(run, turn.says)), runbook.id, told(run, turn.says)),
        isPassing: findings.wasShown,
      };
    case 'cannot_tell':
      return {
        kind: 'diagnosis',
        diagnosis: cannotTell(
          findings,
          runbook.id,
          told(run, turn.says),
          turn.next === undefined ? null : told(run, turn.next),
        ),
        isPassing: turn.lookAgain === true,
      };
  }
}

/** That nothing is wrong is a claim as well: it stands on what the step that says so has read. */
function withLastLook({ findings, answers }: Run, says: string): Findings {
  const last = [...answers.values()].at(-1);
  const quote = last === undefined ? null : firstLineOf(last.text);
  if (last === undefined || quote === null) return findings;
  return {
    ...findings,
    evidence: [...findings.evidence, { claim: says, toolCallIds: [last.toolCallId], quote }],
  };
}

function handOver(run: Run, { alsoVerify: name, says }: Extract<RunbookTurn, { kind: 'use' }>): void {
  run.findings.wasShown ||= run.symptom === 'shown';
  if (says !== undefined) run.findings.context.push(told(run, says));
  const verify = name === null ? undefined : run.runbook.verify[name];
  if (verify === undefined) return;
  const steps = verifySteps(run, verify);
  if (typeof steps === 'string') untested(run, steps);
  else run.findings.alsoVerify.push(...steps);
}

function nothingHeld(run: Run): Diagnosis {
  const { findings, runbook } = run;
  const says = findings.incomplete
    ? `The runbook "${runbook.title}" could not be followed to its end.`
    : `Nothing that the runbook "${runbook.title}" tests for holds on the live system.`;
  return cannotTell(findings, runbook.id, says, null);
}
