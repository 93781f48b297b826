import { OpsError } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import { isOutage } from '../core/is-outage.ts';
import { type NextWork, nextWork, sourceMayResolve } from '../core/machine.ts';
import type { InvestigationDeps } from './deps.ts';
import { endRepetition } from './failed-turn.ts';
import { ASK_AGAIN_TURN, BESIDE_TURN, JOINED_TURN, STILL_SO_TURN } from './move.ts';
import { askAgain } from './phases/ask-again.ts';
import { decide } from './phases/await-approval.ts';
import { goOnBeside } from './phases/beside.ts';
import { diagnose } from './phases/diagnose.ts';
import { raiseEffort } from './phases/effort.ts';
import { restWhileFlapping } from './phases/flapping.ts';
import { LASTING_TURN, lookWhetherItLasts } from './phases/lasting.ts';
import { lookAgain } from './phases/look-again.ts';
import { isMuted, readAsItWaits, restsUnderLead } from './phases/muted.ts';
import type { PhaseRun } from './phases/phase-run.ts';
import { plan } from './phases/plan.ts';
import { settleRemediation } from './phases/remediate.ts';
import { retryRead } from './phases/retry-read.ts';
import { endSilent, SILENT_TURN } from './phases/silence.ts';
import { reopen, resolveBySource } from './phases/source.ts';
import { triage } from './phases/triage.ts';
import { LOOK_TURN, verify } from './phases/verify.ts';
import { InvestigationStopped } from './work.ts';

/** Runs `fn` once per name and turn; see infra/dbos. */
type Durably = <T>(name: string, fn: () => Promise<T>, options?: { readonly anew?: boolean }) => Promise<T>;

/** What the tries of this turn that failed have finished; see infra/dbos. */
interface EarlierTries {
  resultOf(name: string): Promise<unknown>;
  goOn(): void;
}

/**
 * One turn: what the machine allows next for the incident as it stands, and no more. What follows is asked for by the
 * statement that moved the state. The state is read in a durable step, so that a turn that runs again after a crash
 * walks the same way and finds its finished steps. So does an investigator's turn that is tried again after a failure, while
 * the incident stands where it stood: what a model has said is paid for once. What other turns have read is read again, for
 * it was of its moment: a decision, a look at the live system.
 */
export function createTurn(deps: InvestigationDeps) {
  return async (
    incidentId: IncidentId,
    reason: string,
    durably: Durably,
    earlier?: EarlierTries,
  ): Promise<void> => {
    try {
      await nextPhase(incidentId, reason, durably, earlier);
    } catch (error) {
      // At shutdown this very turn goes on elsewhere.
      if (deps.shutdown.aborted) throw error;
      // After a person's *Stop*, *Resume* asks for the turn that goes on; after *Close*, its alert when it fires again.
      if (error instanceof InvestigationStopped) return;
      // Time mends an outage, and nothing else: the rest would fail for ever.
      if (isOutage(error)) throw error;
      const isBeside = reason === BESIDE_TURN;
      if (!(await durably('failed', () => endRepetition(deps, incidentId, error, isBeside), { anew: true })))
        throw error;
    }
  };

  async function nextPhase(
    incidentId: IncidentId,
    reason: string,
    durably: Durably,
    earlier: EarlierTries | undefined,
  ): Promise<void> {
    const incident = await durably('read', () => readAsItWaits(deps, incidentId), { anew: true });
    if (!incident)
      throw new OpsError('NO_INCIDENT', `There is no incident ${incidentId}.`, {
        hint: 'It was removed while its turn waited.',
      });
    if (earlier) {
      const stands = async () =>
        isInvestigators(incident, reason) &&
        standsWhere(incident, (await earlier.resultOf('read')) as Incident | undefined);
      if (await durably('goes on', stands, { anew: true })) earlier.goOn();
    }
    const run: PhaseRun = { deps, incident, durably, reason };
    if (reason === BESIDE_TURN) return goOnBeside(run);
    if (reason === LASTING_TURN) return lookWhetherItLasts(run);
    // The watching that asked for it has ended meanwhile.
    if (reason === LOOK_TURN && incident.state !== 'verifying') return;
    const isOver = incident.sourceResolvedAt !== null && sourceMayResolve(incident.state);
    // Before whether it flaps: one that flaps while it is muted waits as well.
    if (isMuted(incident) && !isOver) return;
    const flapping = await restWhileFlapping(run);
    if (flapping === 'moved') return;
    if (flapping === 'no' && isOver) return resolveBySource(run);
    if (restsUnderLead(incident)) return;
    if (reason === STILL_SO_TURN) return flapping === 'rests' ? undefined : lookAgain(run);
    if (reason === ASK_AGAIN_TURN) return askAgain(run);
    if (reason === SILENT_TURN) return endSilent(run);
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
        return reason === JOINED_TURN ? raiseEffort(run) : retryRead(run);
    }
  }
}

const PAID_WORK: readonly NextWork[] = ['triage', 'diagnose', 'plan'];

/** Whether the turn is for an investigator's work: a model may have been asked in it. */
function isInvestigators({ state, sourceResolvedAt }: Incident, reason: string): boolean {
  if ([BESIDE_TURN, LASTING_TURN, LOOK_TURN, ASK_AGAIN_TURN, SILENT_TURN, STILL_SO_TURN].includes(reason))
    return false;
  return !(sourceResolvedAt && sourceMayResolve(state)) && PAID_WORK.includes(nextWork(state));
}

/** Whether what an earlier try found out still belongs to what is to be done. Triage itself moves an incident from `open`. */
function standsWhere(now: Incident, then: Incident | undefined): boolean {
  if (!then || then.round !== now.round) return false;
  if (then.state === 'open' && now.state === 'triaging') return now.investigator !== 'playbook';
  return then.state === now.state && then.investigator === now.investigator;
}
