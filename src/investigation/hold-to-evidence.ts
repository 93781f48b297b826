import { type Investigator, InvestigatorFailed } from '../agents/ports.ts';
import type { Diagnosis } from '../domain/diagnosis.ts';
import type { ToolCall } from '../domain/tool-call.ts';
import { criterionOf } from './criterion.ts';
import { type CheckedDiagnosis, checkEvidence } from './evidence.ts';
import type { PhaseRun } from './phase-run.ts';

/**
 * A diagnosis after its claims were held against the record; each that fell is on record and audited. A model whose cause
 * stands on nothing it read has failed: the playbook looks for itself.
 */
export async function holdToEvidence(
  run: PhaseRun,
  { name }: Pick<Investigator, 'name'>,
  raw: Diagnosis,
): Promise<CheckedDiagnosis> {
  const { deps, incident } = run;
  const checked = await run.durably(`check evidence of ${name}`, async () => {
    const record = await deps.records.load(incident.id);
    const result = checkEvidence(raw, record ?? { incident, events: [], toolCalls: [] });
    for (const dropped of result.dropped) await drop(run, name, dropped);
    return withCriterion(run, raw, result, record?.toolCalls ?? []);
  });
  if (checked.unproven && name === 'claude')
    throw new InvestigatorFailed(`nothing it read carries what it said (“${raw.rootCause.slice(0, 200)}”).`);
  return checked;
}

/**
 * How it will be known that it is over: by what a kept claim cites and what is red in it. The gate reads it red once more
 * before anything is proposed.
 */
function withCriterion(
  { deps, incident }: PhaseRun,
  raw: Diagnosis,
  checked: CheckedDiagnosis,
  toolCalls: readonly ToolCall[],
): CheckedDiagnosis {
  const { criterion: _, symptom: __, ...diagnosis } = checked.diagnosis;
  if (diagnosis.verdict !== 'cause_found') return { ...checked, diagnosis };
  const cited = [...new Set(diagnosis.evidence.flatMap(({ toolCallIds }) => toolCallIds))].flatMap(
    (id) => toolCalls.find((call) => call.id === id && call.target === incident.target) ?? [],
  );
  const criterion = criterionOf(deps.gate, raw, cited, deps.confirmation);
  return { ...checked, diagnosis: criterion === null ? diagnosis : { ...diagnosis, criterion } };
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
  deps.reporter.changed(id);
}
