import { type Investigation, type Investigator, InvestigatorFailed } from '../../agents/ports.ts';
import { alertRuleOf } from '../../core/alert-rule.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { VerifyPlan } from '../../core/tool-call.ts';
import type { PhaseRun } from '../phases/phase-run.ts';
import { criterionOf, withAlertRule } from '../recovery/criterion.ts';
import { doubleChecked } from './double-check.ts';
import { type CheckedDiagnosis, checkEvidence } from './evidence.ts';

/**
 * A diagnosis after its claims were held against the record, and a model's against a second look: each claim that fell is
 * on record and audited. A model whose cause stands on nothing it read has failed: the playbook looks for itself.
 */
export async function verifyEvidence(
  run: PhaseRun,
  investigator: Investigator,
  work: Investigation,
  said: Diagnosis,
): Promise<CheckedDiagnosis> {
  const { name } = investigator;
  const raw: Diagnosis = { ...said, origin: said.origin ?? (name === 'claude' ? 'model' : 'runbook') };
  const checked = await run.durably(`check evidence of ${name}`, async () => {
    const record = await recordOf(run);
    const result = publishable(checkEvidence(raw, record, run.deps.gate.measures));
    for (const dropped of result.dropped) await drop(run, name, dropped);
    return withCriterion(run, name, raw, result, record);
  });
  if (name === 'claude' && (checked.isUnproven || checked.unsupported.length > 0))
    throw new InvestigatorFailed('nothing it read carries what it said.');
  const doubt = (await investigator.doubt?.(work, checked.diagnosis)) ?? null;
  if (doubt === null) return checked;
  return run.durably(`double-check of ${name}`, async () => {
    const record = await recordOf(run);
    const result = doubleChecked(checked, doubt, record, run.deps.gate.measures);
    for (const dropped of result.dropped) await drop(run, name, dropped);
    // What cited the red measure may have fallen.
    return withCriterion(run, name, raw, result, record);
  });
}

type EvidenceRecord = Pick<IncidentRecord, 'incident' | 'alerts' | 'events' | 'toolCalls'>;

async function recordOf({ deps, incident }: PhaseRun): Promise<EvidenceRecord> {
  return (await deps.records.load(incident.id)) ?? { incident, alerts: [], events: [], toolCalls: [] };
}

/** Who cannot tell need not fail over the words: they are left out. A cause is dropped as a claim, with why. */
export function publishable(checked: CheckedDiagnosis): CheckedDiagnosis {
  const { diagnosis, unsupported } = checked;
  if (unsupported.length === 0) return checked;
  const dropped = [...checked.dropped, { claim: diagnosis.rootCause, reason: unsupported.join(' ') }];
  if (diagnosis.verdict !== 'cannot_tell' || checked.isUnproven) return { ...checked, dropped };
  const rootCause = 'The cause cannot be told from what was read.';
  return { ...checked, dropped, unsupported: [], diagnosis: { ...diagnosis, rootCause } };
}

/**
 * How it will be known that it is over: by what a kept claim cites and what is red in it. The gate reads it red once more
 * before anything is proposed.
 */
async function withCriterion(
  run: PhaseRun,
  investigator: string,
  raw: Diagnosis,
  checked: CheckedDiagnosis,
  record: EvidenceRecord,
): Promise<CheckedDiagnosis> {
  const { deps, incident } = run;
  const { criterion: _, ...diagnosis } = checked.diagnosis;
  if (diagnosis.verdict !== 'cause_found') return { ...checked, diagnosis };
  const cited = [...new Set(diagnosis.evidence.flatMap(({ toolCallIds }) => toolCallIds))].flatMap(
    // Of the target or a neighbour: the gate has let no call reach another.
    (id) => record.toolCalls.find((call) => call.id === id && call.target !== null) ?? [],
  );
  const rule = alertRuleOf(record.alerts.filter(({ status }) => status === 'firing'));
  // Found out on this system: another one that gets its name is not judged by it.
  const bound = async (plan: VerifyPlan): Promise<VerifyPlan> =>
    incident.target === null ? plan : deps.gate.bindSystems(incident.target, plan);
  const suggested =
    diagnosis.suggested &&
    (await Promise.all(
      diagnosis.suggested.map(async (action) =>
        action.verify === null
          ? action
          : { ...action, verify: await bound(withAlertRule(deps.gate, action.verify, rule)) },
      ),
    ));
  const chosen = criterionOf(deps.gate, raw, incident, cited, deps.confirmation, rule);
  const asked = raw.symptomNow?.bound;
  if (chosen?.ignored && asked)
    await drop(run, investigator, {
      claim: `Healthy only within ${asked.value} ${asked.unit}.`,
      reason: chosen.ignored,
    });
  return {
    ...checked,
    diagnosis: {
      ...diagnosis,
      ...(suggested === undefined ? {} : { suggested }),
      ...(chosen === null ? {} : { criterion: await bound(chosen.criterion) }),
    },
  };
}

/** Once each, whatever runs again: the event and the entry in the audit log land together. */
async function drop(
  { deps, incident }: PhaseRun,
  investigator: string,
  { claim: said, reason }: CheckedDiagnosis['dropped'][number],
): Promise<void> {
  const claim = deps.redact(said);
  const { id, round } = incident;
  await deps.sql.begin(async (tx) => {
    const key = `dropped:${round}:${investigator}:${said.slice(0, 80)}`;
    const isNew = await deps.records.append(tx, id, { type: 'claim.dropped', claim, reason }, key);
    if (isNew)
      await deps.audit.appendIn(tx, {
        kind: 'claim.dropped',
        actor: 'detective',
        incidentId: id,
        details: { investigator, round, claim: claim.slice(0, 500), reason },
      });
  });
}
