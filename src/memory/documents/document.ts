import type { IncidentId, ToolCallId } from '../../core/ids.ts';
import type { Domain } from '../../core/incident.ts';
import type { SystemFacts } from '../systems/system-facts.ts';

export const memoryScopes = ['workspace', 'user', 'conversation'] as const;
export type MemoryScope = (typeof memoryScopes)[number];

export const docTypes = [
  'runbook',
  'checklist',
  'incident',
  'service_pattern',
  'rule_of_thumb',
  'convention',
  'user_preference',
  'note',
] as const;
export type DocType = (typeof docTypes)[number];

/** Follows from who wrote a version, never from what was asked for. Most trusted first. */
export const trustLevels = ['admin_approved', 'system_seeded', 'user_authored', 'agent_draft'] as const;
export type Trust = (typeof trustLevels)[number];

/** What a document is about; matched against what an incident is about. Every list may be empty. */
export interface Entities {
  readonly namespace: readonly string[];
  readonly resource: readonly string[];
  readonly environment: readonly string[];
  readonly service: readonly string[];
}

export const noEntities: Entities = { namespace: [], resource: [], environment: [], service: [] };

/** Where a version came from. A `run` is one turn of an incident. */
export type SourceRef =
  | { readonly kind: 'tool_call'; readonly ref: ToolCallId }
  | { readonly kind: 'incident'; readonly ref: IncidentId }
  | { readonly kind: 'run' | 'document'; readonly ref: string };

/** A store, and in `conversation_memory` the incident whose thread it is. */
export interface StoreRef {
  readonly store: string;
  readonly incidentId: IncidentId | null;
}

export interface MemoryStore {
  readonly slug: string;
  readonly scope: MemoryScope;
  /** Slack user id; of user stores only. */
  readonly owner: string | null;
  readonly title: string;
}

/** What a document and each of its versions have. */
export interface MemoryContent {
  /** Of the content in UTF-8, hex. */
  readonly sha256: string;
  readonly title: string;
  readonly content: string;
  readonly docType: DocType;
  readonly trust: Trust;
  readonly domain: Domain | null;
  readonly entities: Entities;
  /** What the target ran that it was learnt on; null where that is not known, or where it belongs to no system. */
  readonly system: SystemFacts | null;
  /** A role, a Slack user id, or `system`. */
  readonly author: string;
}

/** A document as its newest version says it. Times are ISO 8601. */
export interface MemoryDocument extends StoreRef, MemoryContent {
  readonly id: string;
  readonly scope: MemoryScope;
  readonly owner: string | null;
  /** Unique in its place: `runbooks/orders-lock`. */
  readonly path: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly retiredAt: string | null;
}

export interface MemoryVersion extends MemoryContent {
  readonly number: number;
  readonly writer: string;
  readonly at: string;
  readonly sources: readonly SourceRef[];
}

export const conversationStore = 'conversation_memory';
export const conventionsStore = 'workspace_conventions';
export const runbooksStore = 'workspace_runbooks';
export const userStore = (userId: string): string => `user:${userId}`;
export const userStoreTitle = (userId: string): string => `What ${userId} asked to remember`;
