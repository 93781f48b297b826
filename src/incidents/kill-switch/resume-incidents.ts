import type { IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import { FILE_SCOPE } from '../../core/switch-scope.ts';
import type { IncidentRow } from '../../record/rows.ts';
import { setSwitches, switchScopes } from '../../safety/kill-switch/kill-switch.ts';
import { isModeScope } from '../../safety/kill-switch/stop-files.ts';
import { scopesOfSame } from '../../safety/kill-switch/target-identity.ts';
import { BESIDE_TURN, moveIn } from '../move.ts';
import { settingKey } from './announce.ts';
import type { KillSwitchServiceDeps } from './kill-switch-service.ts';

/** Looked at in one go, which is once a second for as long as something is stopped. */
const PAGE = 100;

/**
 * Incidents that ended as a report because nothing might be changed, and now might be: looked at afresh. For those that are
 * fixed, what was to keep them so is asked for.
 *
 * @param after the answer of the look before; '' from the beginning
 */
export async function resumeIncidents(deps: KillSwitchServiceDeps, after: string): Promise<string> {
  const { sql, killSwitch, targets } = deps;
  const rows = await sql<Pick<IncidentRow, 'id'>>`
    SELECT DISTINCT i.id FROM action a JOIN incident i ON i.id = a.incident_id
     WHERE a.held_by IS NOT NULL AND a.incident_id > ${after}
       AND (i.state = 'reported' AND NOT a.beside OR i.state = 'resolved' AND a.beside AND a.undoes IS NULL)
     ORDER BY i.id LIMIT ${PAGE}`;
  for (const { id } of rows) {
    const incident = await deps.records.incident(id);
    if (!incident?.target) continue;
    const domain = targets.get(incident.target)?.domain ?? incident.domain;
    const scopes = switchScopes(incident.target, domain);
    if (!(await killSwitch.stopped(scopes))) await lookAgain(deps, incident);
    else if (incident.state === 'reported') await announceHolding(deps, incident.id, scopes);
  }
  return rows.length < PAGE ? '' : (rows.at(-1)?.id ?? '');
}

/** An incident that was opened under the switch hears of it when it is first held up by it. */
async function announceHolding(
  { sql, records }: KillSwitchServiceDeps,
  id: IncidentId,
  scopes: readonly string[],
): Promise<void> {
  const all = await scopesOfSame(sql, scopes);
  const holding = (await setSwitches(sql)).filter(
    ({ scope }) => all.includes(scope) || (scope.startsWith(FILE_SCOPE) && !isModeScope(scope)),
  );
  for (const { since, scope, by, reason, until } of holding) {
    const body = { type: 'switch.set', scope, by, reason, until } as const;
    await sql.begin((tx) => records.append(tx, id, body, settingKey(scope, since)));
  }
}

async function lookAgain(deps: KillSwitchServiceDeps, incident: Incident): Promise<void> {
  await deps.sql.begin(async (tx) => {
    await tx`UPDATE action SET held_by = NULL WHERE incident_id = ${incident.id} AND held_by IS NOT NULL`;
    if (incident.state === 'resolved') {
      await tx`SELECT sentry_enqueue_turn(${incident.id}, ${BESIDE_TURN})`;
      return;
    }
    await moveIn(tx, deps, incident, {
      from: 'reported',
      to: 'diagnosing',
      reason: 'Changes may be made again; the state is read anew.',
      key: `resumed:${incident.round}`,
      changes: { round: incident.round + 1, nextStep: 'Looking again, now that changes may be made.' },
    });
  });
}
