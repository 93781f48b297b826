import { canonicalJson } from '../../core/canonical-json.ts';
import type { VaultKey } from './vault-key.ts';

/** What an approval says: who approved which plan of which incident, and until when it may begin. All of it is signed. */
export interface ApprovalStatement {
  /** Of the plan's first step. */
  readonly action: string;
  readonly incident: string;
  readonly planHash: string;
  /** A Slack user's id, or `policy`. */
  readonly by: string;
  /** ISO, as on the card. */
  readonly expiresAt: string;
  /** The last number of the audit log before it: what has become of it is told after that, wherever it is copied to. */
  readonly after: number;
}

/**
 * Signs approvals with the key that all processes of a deployment share and the database has not: whoever can only write
 * into the database can approve nothing.
 */
export interface ApprovalSeal {
  sign(statement: ApprovalStatement): string;
  isSigned(statement: ApprovalStatement, signature: unknown): boolean;
}

export function createApprovalSeal(key: Pick<VaultKey, 'vouch' | 'vouches'>): ApprovalSeal {
  return {
    sign: (statement) => key.vouch(textOf(statement)),
    isSigned: (statement, signature) =>
      typeof signature === 'string' && key.vouches(textOf(statement), signature),
  };
}

/** Named fields only; the first words keep it apart from all else that the key vouches for. */
function textOf({ action, incident, planHash, by, expiresAt, after }: ApprovalStatement): string {
  return `sentry approval\n${canonicalJson({ action, incident, planHash, by, expiresAt, after })}`;
}
