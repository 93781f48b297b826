import type { ChangeSubject } from '../../changes/read-changes.ts';
import { type Side, servicesOf, type Topology } from './correlate.ts';

/** What a change that touched an incident would name: its system, whatever that is called, and its services. */
export function changeSubject<Id>(one: Side<Id>, topology: Topology): ChangeSubject {
  const system = one.target === null ? undefined : topology(one.target);
  return {
    target: one.target,
    names: [...(system?.aliases ?? []), ...servicesOf(one)],
    environment: system?.environment ?? null,
    changesFrom: system?.changesFrom ?? null,
    beganAt: one.beganAt.toISOString(),
  };
}
