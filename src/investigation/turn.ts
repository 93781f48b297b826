import { OpsError } from '../domain/errors.ts';
import type { IncidentId } from '../domain/ids.ts';
import type { InvestigationDeps } from './deps.ts';
import { nextWork, sourceMayResolve } from './machine.ts';
import type { PhaseRun } from './phase-run.ts';
import { decide } from './phases/await-approval.ts';
import { diagnose } from './phases/diagnose.ts';
import { lookWhetherItLasts } from './phases/lasting.ts';
import { plan } from './phases/plan.ts';
import { readAgain } from './phases/read-again.ts';
import { settleRemediation } from './phases/remediate.ts';
import { reopen, resolveBySource } from './phases/source.ts';
import { triage } from './phases/triage.ts';
import { UNDO_TURN, undo } from './phases/undo.ts';
import { LASTING_TURN, LOOK_TURN, verify } from './phases/verify.ts';
import { InvestigationStopped } from './work.ts';

/** Runs `fn` once per name and turn; see infra/dbos. */
type Durably = <T>(name: string, fn: () => Promise<T>) => Promise<T>;

/**
 * One turn: what the machine allows next for the incident as it stands, and no more. What follows is asked for by the
 * statement that moved the state. The state is read in a durable step, so that a turn that runs again after a crash
 * walks the same way and finds its finished steps.
 */
export function createTurn(deps: InvestigationDeps) {
  return async (incidentId: IncidentId, reason: string, durably: Durably): Promise<void> => {
    try {
      await nextPhase(incidentId, reason, durably);
    } catch (error) {
      // After a person's *Stop*, *Resume* asks for the turn that goes on. At shutdown this very turn goes on elsewhere.
      if (!(error instanceof InvestigationStopped) || deps.shutdown.aborted) throw error;
    }
  };

  async function nextPhase(incidentId: IncidentId, reason: string, durably: Durably): Promise<void> {
    const incident = await durably('read', () => deps.records.incident(incidentId));
    if (!incident)
      throw new OpsError('NO_INCIDENT', `There is no incident ${incidentId}.`, {
        hint: 'It was removed while its turn waited.',
      });
    const run: PhaseRun = { deps, incident, durably, reason };
    if (reason === UNDO_TURN) return undo(run);
    if (reason === LASTING_TURN) return lookWhetherItLasts(run);
    // The watching that asked for it has ended meanwhile.
    if (reason === LOOK_TURN && incident.state !== 'verifying') return;
    if (incident.sourceResolvedAt && sourceMayResolve(incident.state)) return resolveBySource(run);
    if (incident.state === 'resolved') return reopen(run);
    switch (nextWork(incident.state)) {
      case 'triage':
        return triage(run);
      case 'diagnose':
        return diagnose(run);
      case 'plan':
        return plan(run);
      case 'await_approval':
        return decide(run);
      case 'remediate':
        return settleRemediation(run);
      case 'verify':
        return verify(run);
      case 'wait':
        return readAgain(run);
    }
  }
}
