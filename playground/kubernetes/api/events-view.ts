import type { CoreEvent, StoredObject } from '../objects.ts';
import { groupVersionOf, type Resource } from '../resources.ts';

/** An object as the version that was asked for has it: events are kept once and shown in two groups. */
export function asVersion(resource: Resource, object: StoredObject): StoredObject {
  if (resource.group !== 'events.k8s.io') return object;
  const event = object as CoreEvent;
  return {
    apiVersion: groupVersionOf(resource),
    kind: 'Event',
    metadata: event.metadata,
    eventTime: event.eventTime ?? null,
    reason: event.reason,
    type: event.type,
    note: event.message,
    regarding: event.involvedObject,
    reportingController: event.reportingComponent ?? event.source?.component ?? '',
    reportingInstance: event.reportingInstance ?? event.source?.host ?? '',
    action: event.action,
    deprecatedSource: event.source,
    deprecatedCount: event.count,
    deprecatedFirstTimestamp: event.firstTimestamp,
    deprecatedLastTimestamp: event.lastTimestamp,
  } as StoredObject;
}
