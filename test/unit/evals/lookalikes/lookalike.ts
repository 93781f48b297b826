import type { Json } from '../../../../src/core/tool-call.ts';

/** What one tool shows. */
export interface Seen {
  readonly tool: string;
  readonly data: Json;
  readonly args?: Record<string, Json>;
  /** What is quoted of it. */
  readonly text?: string;
}
export interface Lookalike {
  readonly alert: string;
  readonly domain: 'postgres' | 'docker';
  readonly title?: string;
  readonly labels?: Record<string, string>;
  readonly sees: readonly Seen[];
  readonly says: RegExp;
  readonly verdict?: 'cannot_tell' | 'healthy' | 'cause_found';
}
