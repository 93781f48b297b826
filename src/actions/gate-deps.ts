import type { Incident } from '../core/incident.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import type { Target } from '../core/target.ts';
import type { Json } from '../core/tool-call.ts';
import type { Audiences } from '../memory/audiences.ts';
import type { IncidentRecords } from '../record/record.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import type { KillSwitch } from '../safety/kill-switch/kill-switch.ts';
import type { Throttle } from '../safety/limits/throttle.ts';
import type { ApprovalSeal } from '../safety/vault/approval-seal.ts';
import type { CredentialVault } from '../safety/vault/credentials.ts';
import type { TargetIdentity } from '../targets/kind.ts';
import type { ChangesPort } from '../tools/changes/ports.ts';
import type { AnyTool } from '../tools/define.ts';
import type { MemoryToolsPort } from '../tools/memory/ports.ts';
import type { ToolPorts } from '../tools/ports.ts';
import type { UsualPort } from '../tools/usual/ports.ts';
import type { ApprovalPolicy } from './policy/policy.ts';
import type { PolicyRules } from './policy/policy-rules.ts';
import type { AlertCheck } from './recovery/alert-checks.ts';

export interface GateDeps {
  readonly sql: Sql;
  readonly records: IncidentRecords;
  readonly audit: AuditLog;
  readonly vault: CredentialVault;
  readonly throttle: Throttle;
  readonly killSwitch: KillSwitch;
  readonly registry: {
    get(name: string): AnyTool | undefined;
    /** To name what there is to whoever asks for what there is not. */
    list?(): readonly AnyTool[];
  };
  readonly targets: ReadonlyMap<string, Target>;
  readonly ports: ToolPorts;
  /** What the memory tools work on; without it they are refused. */
  readonly memory?: MemoryToolsPort;
  /** Who may read of past incidents; without it a card tells nothing of them. */
  readonly audiences?: Audiences;
  /** What the tools that read changes stand on; without it they are refused. */
  readonly changes?: ChangesPort;
  /** What the tool that compares now with usual stands on; without it that is refused. */
  readonly usual?: UsualPort;
  identity(target: string): Promise<TargetIdentity>;
  /** What the runbooks that list an incident's alert by its name say it is about, as they are now. */
  runbookChecks(incident: Incident): readonly AlertCheck[];
  /** What a runbook says in full, as a hash; null: there is none of that id. */
  runbookVersion(id: string): string | null;
  /** Hides secrets; fails closed (throws rather than letting text through unread). */
  redact(text: string): string;
  redactJson(value: Json): Json;
  readonly approvalMinutes: number;
  /** What approvals take; without it one approver, and an approval lasts `approvalMinutes`. */
  readonly rules?: Pick<PolicyRules, 'demands'>;
  /** Whose approvals count when it is about to run. */
  readonly approvers: Pick<ApprovalPolicy, 'stillMay' | 'asOfNow'>;
  readonly seal: ApprovalSeal;
  readonly log: Log;
}
