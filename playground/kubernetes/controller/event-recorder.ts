import { type CoreEvent, type StoredObject, timestamp } from '../objects.ts';
import { ApiError } from '../registry/api-error.ts';
import type { Registry, SentObject } from '../registry/registry.ts';
import { resource } from '../resources.ts';

const events = resource('events', '');

export interface EventSource {
  readonly component: string;
  readonly host?: string;
}

/** Writes events; the same one again only counts, as the real recorder does. */
export class EventRecorder {
  readonly #registry: Registry;
  readonly #names = new Map<string, string>();
  #written = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  normal(
    source: EventSource,
    about: StoredObject,
    reason: string,
    message: string,
    fieldPath?: string,
  ): void {
    this.#record('Normal', source, about, reason, message, fieldPath);
  }

  warning(
    source: EventSource,
    about: StoredObject,
    reason: string,
    message: string,
    fieldPath?: string,
  ): void {
    this.#record('Warning', source, about, reason, message, fieldPath);
  }

  #record(
    type: string,
    source: EventSource,
    about: StoredObject,
    reason: string,
    message: string,
    fieldPath: string | undefined,
  ): void {
    const { name, uid, resourceVersion } = about.metadata;
    // Events of what is in no namespace are kept in the default one.
    const namespace = about.metadata.namespace ?? 'default';
    const key = [namespace, uid, type, reason, message, fieldPath].join('\n');
    const at = timestamp();
    const known = this.#names.get(key);
    if (known !== undefined && this.#registry.store.get(events, namespace, known) !== undefined) {
      this.#registry.update<CoreEvent>(events, namespace, known, (event) => ({
        ...event,
        count: (event.count ?? 1) + 1,
        lastTimestamp: at,
      }));
      return;
    }
    this.#written += 1;
    const made = this.#create({
      metadata: { name: `${name}.${(0x17f0_0000 + this.#written).toString(16)}`, namespace },
      involvedObject: {
        kind: about.kind,
        ...(about.metadata.namespace === undefined ? {} : { namespace }),
        name,
        uid,
        apiVersion: about.apiVersion,
        resourceVersion,
        ...(fieldPath === undefined ? {} : { fieldPath }),
      },
      reason,
      message,
      source,
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
      type,
      eventTime: null,
      reportingComponent: source.component,
      reportingInstance: source.host ?? '',
    });
    if (made !== null) this.#names.set(key, made.metadata.name);
  }

  /** An event that the server refuses, because its namespace is ending, is lost: nobody waits for it. */
  #create(event: SentObject): CoreEvent | null {
    try {
      return this.#registry.create<CoreEvent>(events, event);
    } catch (error) {
      if (error instanceof ApiError) return null;
      throw error;
    }
  }
}
