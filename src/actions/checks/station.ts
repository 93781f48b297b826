import type { Refusal } from '../../core/errors.ts';
import type { Target } from '../../core/target.ts';
import type { Json, ToolCallRequest } from '../../core/tool-call.ts';
import type { Credential } from '../../safety/vault/credentials.ts';
import type { AnyTool } from '../../tools/define.ts';

/** A call on its way through the gate. Stations fill in what they have established. */
export interface Passage {
  readonly credential: Credential;
  readonly request: ToolCallRequest;
  tool?: AnyTool;
  /** As parsed by the tool's schema: what is hashed, shown and run. */
  input?: Json;
  target?: Target;
  /** Called when the call has ended, however it did. */
  readonly ended: (() => void)[];
}

/**
 * One station of the gate (design.md §5), in order. Returns a refusal to stop the call; throws only on faults, which
 * the gate turns into a failed call.
 */
export type Station = (passage: Passage) => Promise<Refusal | undefined> | Refusal | undefined;
