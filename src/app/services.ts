import type { Escalation } from '../escalation/escalation.ts';
import { createHandoff, type HandoffOf } from '../incidents/reports/handoff-of.ts';
import { createTestIncidents, type TestIncidents } from '../incidents/test-incident.ts';
import { type ActionServices, createActionServices } from './action-services.ts';
import { createEscalationServices, createHearDelivery, type HearDelivery } from './escalation-services.ts';
import { createFoundations, type Foundations } from './foundations.ts';
import { createGuards, type Guards } from './guards.ts';
import { createHandOver } from './hand-over.ts';
import { createIncidentServices, type IncidentServices } from './incident-services.ts';
import { createMemoryServices, type MemoryServices } from './memory-services.ts';
import type { Parts } from './parts.ts';

/** Everything that works without a surface: it writes the record, and who shows that hears of it on the bus. */
export interface Services extends Foundations, Guards, MemoryServices, ActionServices, IncidentServices {
  readonly escalation: Escalation;
  readonly hearDelivery: HearDelivery;
  readonly handoff: HandoffOf;
  readonly testIncidents: TestIncidents;
}

/** Each group needs only those before it. */
export async function createServices(parts: Parts): Promise<Services> {
  const on = await createFoundations(parts);
  const guards = await createGuards(on);
  const remembered = await createMemoryServices(on, guards);
  const actions = createActionServices(on, guards, remembered);
  const incidents = await createIncidentServices(on, guards, remembered, actions);
  const handoff = createHandoff({
    sql: on.sql,
    records: on.records,
    read: actions.gate.readRecorded,
    mutedLines: incidents.mutes.lines,
    stoppedLines: incidents.switches.lines,
  });
  const escalation = createEscalationServices(on, createHandOver(on, handoff));
  const hearDelivery = createHearDelivery(escalation, on.config.escalation?.pagers ?? []);
  const testIncidents = createTestIncidents({
    sql: on.sql,
    open: incidents.createManualIncident,
    take: escalation.take,
    close: incidents.steering.close,
  });
  return {
    ...on,
    ...guards,
    ...remembered,
    ...actions,
    ...incidents,
    escalation,
    hearDelivery,
    testIncidents,
    handoff,
  };
}
