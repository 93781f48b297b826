import type { Registry } from '../registry/registry.ts';
import type { Store } from '../registry/store.ts';
import type { Resource } from '../resources.ts';
import type { LogBook } from './logs.ts';
import type { User } from './rbac.ts';
import type { RequestInfo, ResourceTarget } from './request-info.ts';

/** What the handlers of requests work on. */
export interface ApiServices {
  readonly store: Store;
  readonly registry: Registry;
  readonly logs: LogBook;
}

/** A request that is known to be about a resource, by somebody who may. */
export interface ResourceRequest {
  readonly info: RequestInfo;
  readonly resource: Resource;
  readonly target: ResourceTarget;
  readonly user: User;
  readonly dryRun: boolean;
  readonly contentType: string;
  readonly body: unknown;
  /** The server's own limit of a page of a list. */
  readonly pageSize?: number;
}

export interface Answer {
  readonly code: number;
  readonly body: object;
}

export const ok = (body: object): Answer => ({ code: 200, body });
export const created = (body: object): Answer => ({ code: 201, body });
