import { type Refusal, refuse } from '../core/errors.ts';
import type { DocType, MemoryScope, Trust } from './documents/document.ts';

/** In whose name a document is written. */
export type WriterKind = 'agent' | 'user' | 'admin' | 'promotion' | 'system' | 'import';

type Allowed = 'any' | 'none' | readonly DocType[];

/**
 * Who may write what, as data (the seed's table, and the writers it implies). What is not here is refused. It knows
 * nothing of the safety scanner, and the scanner nothing of it: a write passes both.
 */
export const writePolicy: Readonly<Record<WriterKind, Readonly<Record<MemoryScope, Allowed>>>> = {
  agent: { workspace: 'none', conversation: 'any', user: ['user_preference'] },
  /** A person for themselves, or in the thread of an incident. */
  user: { workspace: 'none', conversation: 'any', user: 'any' },
  /** Other people's stores and threads are not an admin's to write in. */
  admin: { workspace: 'any', conversation: 'none', user: 'none' },
  promotion: { workspace: 'any', conversation: 'none', user: 'none' },
  system: { workspace: 'any', conversation: 'none', user: 'none' },
  /** An operator putting back what was exported. */
  import: { workspace: 'any', conversation: 'any', user: 'any' },
};

/** What a version written by them is worth. An import keeps what was exported. */
export const trustOf: Readonly<Record<Exclude<WriterKind, 'import'>, Trust>> = {
  agent: 'agent_draft',
  user: 'user_authored',
  admin: 'admin_approved',
  promotion: 'admin_approved',
  system: 'system_seeded',
};

export interface WriteRequest {
  readonly writer: WriterKind;
  readonly scope: MemoryScope;
  readonly docType: DocType;
  /**
   * Whether the place is the writer's: a person's own store, the thread they or the agent are in, for an agent the store
   * of somebody who takes part in its incident. Workspace stores are everybody's.
   */
  readonly own: boolean;
}

/** Undefined when the write is allowed. */
export function mayWrite({ writer, scope, docType, own }: WriteRequest): Refusal | undefined {
  const allowed = Object.hasOwn(writePolicy, writer) ? writePolicy[writer][scope] : undefined;
  if (allowed === undefined || allowed === 'none')
    return denied(
      scope === 'workspace' && writer === 'agent'
        ? 'Workspace stores are not written directly: propose the draft for promotion.'
        : `A write by ${article(writer)} to a ${scope} store is not allowed.`,
    );
  if (allowed !== 'any' && !allowed.includes(docType))
    return denied(
      `A write by ${article(writer)} to a ${scope} store may only be of the type ${allowed.join(' or ')}, not ${docType}.`,
    );
  if (!own && writer !== 'import') return denied(`This ${scope} store belongs to somebody else.`);
  return undefined;
}

export function denied(reason: string): Refusal {
  return refuse('MEMORY_POLICY_DENIED', reason);
}

function article(writer: WriterKind): string {
  return writer === 'agent' || writer === 'admin' || writer === 'import' ? `an ${writer}` : `a ${writer}`;
}
