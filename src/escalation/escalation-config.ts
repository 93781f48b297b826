import type { z } from 'zod';
import type { Severity } from '../core/alert.ts';
import type { Hours } from '../core/hours.ts';
import type { Principal } from '../core/principal.ts';
import type { opsgenieEntry } from './pagers/opsgenie/schema.ts';
import type { pagerDutyEntry } from './pagers/pagerduty/schema.ts';
import type { webhookEntry } from './pagers/webhook/schema.ts';
import type { opsgenieScheduleEntry } from './schedules/opsgenie/schema.ts';
import type { pagerDutyScheduleEntry } from './schedules/pagerduty/schema.ts';
import type { rotationEntry } from './schedules/rotation/schema.ts';

/** Why somebody may be called. */
export const escalationReasons = [
  /** Sentry has reported or given up, and nobody has taken it. */
  'unsolved',
  /** It is open, and nobody has acknowledged it. */
  'unacknowledged',
  /** A proposal is about to expire. */
  'approval_expiry',
  /** A fix ran, and the problem stands. */
  'failed_verification',
] as const;
export type EscalationReason = (typeof escalationReasons)[number];

/** An entry of `sentry.yaml` with its name. */
type Named<E> = E & { readonly name: string };
/** With the secret itself, where the entry only names its variable or its file. */
type Keyed<E> = Named<Omit<E, 'key' | 'key_env' | 'key_file'>> & { readonly key: string };

export type PagerDutyConfig = Keyed<z.infer<typeof pagerDutyEntry>>;
export type OpsgenieConfig = Keyed<z.infer<typeof opsgenieEntry>>;
export type WebhookConfig = Keyed<z.infer<typeof webhookEntry>>;
/** What `createPager` makes a `Pager` of. */
export type PagerConfig = PagerDutyConfig | OpsgenieConfig | WebhookConfig;

export type PagerDutyScheduleConfig = Keyed<z.infer<typeof pagerDutyScheduleEntry>>;
export type OpsgenieScheduleConfig = Keyed<z.infer<typeof opsgenieScheduleEntry>>;
export type RotationConfig = Named<z.infer<typeof rotationEntry>>;
/** What `createSchedule` makes an `OnCallSchedule` of. */
export type ScheduleConfig = PagerDutyScheduleConfig | OpsgenieScheduleConfig | RotationConfig;

/** Who is mentioned in the thread; `schedule`: whoever it says is on call at that moment. */
export type Mention =
  | Exclude<Principal, { readonly kind: 'channel' }>
  | { readonly kind: 'schedule'; readonly name: string };

export interface EscalationLevel {
  /** Milliseconds since somebody was needed, in all of which nobody acknowledged; longer at each level than at the one before. */
  readonly afterMs: number;
  readonly mention: readonly Mention[];
  /** Names of pagers. No receiver is paged by two levels. */
  readonly page: readonly string[];
}

/** When nobody is called for incidents of these severities. */
export interface QuietHours extends Hours {
  readonly severities: readonly Severity[];
}

/** The section `escalation` of `sentry.yaml`, checked: every name that it uses is one of its own. */
export interface EscalationConfig {
  readonly pagers: readonly PagerConfig[];
  readonly schedules: readonly ScheduleConfig[];
  /** At least one; level 1 is the first. */
  readonly levels: readonly EscalationLevel[];
  readonly reasons: readonly EscalationReason[];
  /** How long an incident is open before it needs somebody only because nobody has it. */
  readonly unacknowledgedMs: number;
  /** So long before a proposal expires somebody is called. */
  readonly approvalExpiryMs: number;
  readonly quietHours: readonly QuietHours[];
}
