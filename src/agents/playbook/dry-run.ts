import { isDeepStrictEqual } from 'node:util';
import type { Gate } from '../../actions/gate.ts';
import { anySignal } from '../../core/any-signal.ts';
import type { Prevention } from '../../core/diagnosis.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Domain, Incident } from '../../core/incident.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { Json, ToolCallResult } from '../../core/tool-call.ts';
import { type DryRunReport, dryRunPurpose, type RunDry } from '../../memory/promotion/ports.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { renderInput } from '../../runbooks/template.ts';
import type { CredentialVault } from '../../safety/vault/credentials.ts';
import type { Investigation } from '../ports.ts';
import { unattended } from '../unattended.ts';
import { newFindings } from './findings.ts';
import { runRunbook } from './run-runbook.ts';

const LIMIT_MS = 60_000;
const MOST_CALLS = 40;

export interface DryRunDeps {
  readonly load: (id: IncidentId) => Promise<IncidentRecord | null>;
  readonly gate: Pick<Gate, 'call'>;
  readonly vault: Pick<CredentialVault, 'mint' | 'revoke'>;
  readonly targets: Iterable<{ readonly name: string; readonly domain: Domain }>;
  readonly shutdown: AbortSignal;
}

/**
 * Runs a runbook on a live system as the playbook would, without waiting between steps, then calls what that did not reach
 * and needs nothing of earlier steps. As the validator, through the gate: it can only read, and every call is on record.
 */
export function createDryRun(deps: DryRunDeps): RunDry {
  return async (runbook, incidentId) => {
    const incident = incidentId && (await deps.load(incidentId))?.incident;
    if (!incident)
      return failed('It comes from no incident on record, so its reads could be put on none.', null);
    const target = targetFor([...deps.targets], runbook.domains, incident.target);
    if (target === null)
      return failed(`No ${runbook.domains.join(' or ')} system is configured to try it on.`, null);
    const credential = deps.vault.mint({ role: 'validator', incidentId: incident.id, targets: [target] });
    const signal = anySignal([deps.shutdown, AbortSignal.timeout(LIMIT_MS)]);
    try {
      const call = (tool: string, input: Json, why: string) =>
        deps.gate.call(credential, { tool, target, input }, { purpose: `${dryRunPurpose}${why}`, signal });
      return { target, ...(await tryOut(runbook, { ...incident, target }, call, signal)) };
    } finally {
      deps.vault.revoke(credential);
    }
  };
}

type Call = (tool: string, input: Json, why: string) => Promise<ToolCallResult>;

async function tryOut(
  runbook: Runbook,
  incident: Incident,
  call: Call,
  signal: AbortSignal,
): Promise<Omit<DryRunReport, 'target'>> {
  const called: { readonly tool: string; readonly input: Json; readonly result: ToolCallResult }[] = [];
  const dropped: string[] = [];
  const read: Call = async (tool, input, why) => {
    const result = await call(tool, input, why);
    called.push({ tool, input, result });
    return result;
  };
  const findings = newFindings();
  const atOnce = { ...runbook, steps: runbook.steps.map((step) => ({ ...step, waitMs: 0 })) };
  const end = await runRunbook(workOf(incident, read, dropped, signal), atOnce, 'diagnose', findings);
  const optional = new Set(runbook.steps.filter((step) => step.optional).map(({ call: tool }) => tool));
  let passed = !findings.incomplete;
  const lines = called.map(({ tool, result }) => lineOf(tool, result));
  if (dropped.length > 0) lines.push(...dropped.map((why) => `✗ ${why}`));
  if (findings.incomplete) lines.push(...findings.unknown.map((why) => `✗ ${why}`));
  lines.push(
    end.kind === 'use' ? `• It hands over to ${end.runbook}` : `• Today it says: ${end.diagnosis.rootCause}`,
    ...(end.kind === 'use' ? [] : (end.diagnosis.suggested ?? []).map(wouldPropose)),
    ...(end.kind === 'use'
      ? []
      : (end.diagnosis.prevent ?? []).map((plan) => `${wouldPropose(plan)}, to keep it from coming back`)),
  );

  // It is tried on one system alone: what is read of a neighbour is no read of that.
  const ownSteps = runbook.steps.filter(({ neighbour }) => neighbour === undefined);
  for (const step of [...ownSteps, ...Object.values(runbook.verify).flatMap(({ steps }) => steps)]) {
    const input = renderInput(step.with, variablesOf(incident));
    if (!input.ok || called.length >= MOST_CALLS) continue;
    if (called.some((one) => one.tool === step.call && isDeepStrictEqual(one.input, input.value))) continue;
    const result = await read(step.call, input.value, 'a step that was not reached');
    lines.push(lineOf(step.call, result));
    passed &&= result.kind === 'ok' || optional.has(step.call);
  }
  return { passed, lines: [...new Set(lines)] };
}

const wouldPropose = ({ tool, andThen = [] }: Prevention): string =>
  `• It would propose: ${[tool, ...andThen.map((step) => step.tool)].join(', then ')}`;

const lineOf = (tool: string, result: ToolCallResult): string =>
  result.kind === 'ok'
    ? `✓ ${tool}`
    : `✗ ${tool}: ${result.kind === 'proposed' ? 'it would change the system' : result.reason}`;

function workOf(incident: Incident, read: Call, dropped: string[], signal: AbortSignal): Investigation {
  return {
    ...unattended,
    incident,
    recall: { incidents: [], runbooks: [], episodes: { similar: [], failedCommands: [] }, missing: null },
    tried: [],
    guidance: [],
    // A dry run follows its runbook and looks nowhere else.
    looks: [],
    callTool: ({ tool, input }, why = 'a step of the runbook') => read(tool, input, why),
    say: () => undefined,
    unsay: () => undefined,
    durably: (_name, fn) => fn(),
    dropped: async (claim, why) => {
      dropped.push(`“${claim.slice(0, 120)}”: ${why}`);
    },
    memoryFor: async () => null,
    spent: async () => undefined,
    signal,
  };
}

/** What a step may name before any other has run. */
const variablesOf = ({
  title,
  alertName,
  severity,
  target,
  labels,
  annotations,
  round,
}: Incident): Record<string, Json> => ({
  incident: { title, alert: alertName, severity, target, labels, annotations, round },
});

function targetFor(
  targets: readonly { readonly name: string; readonly domain: Domain }[],
  domains: readonly Domain[],
  own: string | null,
): string | null {
  const fit = targets.filter((target) => domains.includes(target.domain));
  return (fit.find(({ name }) => name === own) ?? fit[0])?.name ?? null;
}

const failed = (line: string, target: string | null): DryRunReport => ({
  passed: false,
  target,
  lines: [line],
});
