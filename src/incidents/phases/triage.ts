import { severities } from '../../core/alert.ts';
import type { IncidentState } from '../../core/incident.ts';
import { EMPTY_RECALL } from '../../core/memory.ts';
import { noteLastTime } from '../last-time.ts';
import { move } from '../move.ts';
import { recallNow } from '../recall.ts';
import { noteRelated } from '../related.ts';
import { withInvestigator } from '../work.ts';
import { afterFirstLook, chooseEffort, effortEvents, restsAtOnce } from './effort.ts';
import type { PhaseRun } from './phase-run.ts';

const NOTHING_FOUND = 'Claude’s first look found nothing to investigate.';

/** `open` → `triaging` → `ignored` or `diagnosing`. */
export async function triage(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  if (incident.state === 'open') {
    // One step, as before there was a choice: a turn that an earlier version began goes on.
    const begun = await run.durably('begin', async () => {
      await noteLastTime(deps, incident.id);
      const chosen = await chooseEffort(run);
      if (await restsAtOnce(run, chosen)) return 'rests';
      const investigator = deps.claude ? 'claude' : 'playbook';
      return move(deps, incident, {
        from: 'open',
        to: 'triaging',
        reason: 'An alert came in.',
        key: `triage:${incident.round}`,
        changes: { investigator, ...(chosen ? { effort: chosen.effort } : {}) },
        events: [
          ...effortEvents(chosen),
          {
            type: 'investigator.chosen',
            investigator,
            why:
              investigator === 'claude'
                ? 'A model is configured.'
                : 'No model is configured, so only known problems are recognised.',
            ...deps.claude?.version,
          },
        ],
        turnAfterMs: null,
      });
    });
    if (begun === 'lost' || begun === 'rests') return;
  }
  await noteRelated(run);
  const current = {
    ...incident,
    state: 'triaging' as IncidentState,
    investigator: incident.investigator ?? (deps.claude ? ('claude' as const) : ('playbook' as const)),
  };
  const inner: PhaseRun = { ...run, incident: current };
  const recall = (await recallNow(inner, 'start', null)) ?? EMPTY_RECALL;
  const { by, result } = await withInvestigator(inner, 'triage', recall, async (investigator, work) => ({
    by: investigator.name,
    result: await investigator.triage(work),
  }));
  await run.durably('conclude', async () => {
    const { effort, severity } = (await deps.records.incident(incident.id)) ?? incident;
    // What has joined since is worse than what was looked at.
    const isWorse = severities.indexOf(severity) < severities.indexOf(incident.severity);
    const ignores = result.ignore && effort !== 'full' && !isWorse;
    const rests = effort === 'triage' && !ignores;
    return move(deps, current, {
      from: 'triaging',
      to: ignores ? 'ignored' : rests ? 'reported' : 'diagnosing',
      reason: by === 'playbook' ? result.reason : ignores ? NOTHING_FOUND : 'The first look is done.',
      key: `triaged:${incident.round}`,
      changes: {
        severity: result.severity,
        incidentType: result.incidentType,
        routine: result.routine,
        ...(rests ? { effort: 'triage' as const } : {}),
        nextStep: ignores ? null : rests ? afterFirstLook : 'Looking for the cause.',
      },
      events: [{ type: 'triage.concluded', triage: result, by }],
      turnAfterMs: ignores || rests ? null : 0,
    });
  });
}
