import type { Action } from '../../core/action.ts';
import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import { formatHours, isWithin } from '../../core/hours.ts';
import type { Incident } from '../../core/incident.ts';
import { formatPrincipals, type Principal } from '../../core/principal.ts';
import type { ApproverDirectory } from '../approvals/ports.ts';
import { type PolicyRules, withoutPolicy } from './policy-rules.ts';
import type { Demands, Subject } from './rule.ts';

/** Who may decide on an action. Asked at the click; what cannot be known is a *no*. */
export interface ApprovalPolicy {
  mayDecide(
    user: string,
    action: Action,
    incident: Incident,
    decision: 'approve' | 'deny',
    asked?: ApproverDirectory,
  ): Promise<Refusal | undefined>;
  /**
   * Whether somebody's approval of it still counts: they are, as of now, among those who may. The hours are those of the
   * press. APPROVERS_UNKNOWN: nobody can tell at the moment.
   */
  stillMay(
    user: string,
    action: Action,
    incident: Incident,
    asked?: ApproverDirectory,
  ): Promise<Refusal | undefined>;
  /** For several questions of one decision: Slack is asked for each group and person once. */
  asOfNow(): ApproverDirectory;
  /** What has to be so for this to be approved; a refusal when nobody may. */
  demands(action: Action): Promise<Demands | Refusal>;
  isAdmin(user: string, asked?: ApproverDirectory): Promise<boolean>;
  /** Approvers, admins and who is on call may have more of a live system read; everybody where no approver is configured. */
  mayAsk(user: string): Promise<Refusal | undefined>;
  /** How many people it takes to approve such a thing with this one among them; null: they may not. Throws when nobody can tell. */
  takes(user: string, about: Omit<Subject, 'environment'>): Promise<number | null>;
  /** For the card: who may approve, in words. */
  readonly describes: readonly Principal[];
}

export function createApprovalPolicy(options: {
  /** As they are at the moment of asking. */
  readonly approvers: readonly Principal[];
  readonly admins: readonly Principal[];
  readonly oncallGroup?: string | null;
  /** Looks who they are by now; awaited before each answer. */
  readonly refresh?: () => Promise<void>;
  readonly directory: ApproverDirectory;
  readonly rules?: Pick<PolicyRules, 'demands'>;
  readonly now?: () => Date;
}): ApprovalPolicy {
  const { directory, now = () => new Date() } = options;
  const refresh = options.refresh ?? (async () => undefined);
  const oncall = (): readonly Principal[] =>
    options.oncallGroup ? [{ kind: 'group', name: options.oncallGroup }] : [];
  const rules =
    options.rules ??
    withoutPolicy({
      get approvers() {
        return options.approvers;
      },
      approvalMinutes: 30,
    });

  /** Who is named needs no asking. A group that cannot be asked is an error only when no other principal has the user. */
  async function among(
    user: string,
    principals: readonly Principal[],
    asked: ApproverDirectory = directory,
  ): Promise<boolean> {
    if (principals.some((principal) => principal.kind === 'user' && principal.id === user)) return true;
    const members = await Promise.allSettled(
      principals.map(async (principal): Promise<readonly string[]> => {
        if (principal.kind === 'user') return [];
        return principal.kind === 'group'
          ? asked.groupMembers(principal.name)
          : asked.channelMembers(principal.id);
      }),
    );
    if (members.some((answer) => answer.status === 'fulfilled' && answer.value.includes(user))) return true;
    const unknown = members.find((answer) => answer.status === 'rejected');
    if (unknown) throw unknown.reason;
    return false;
  }

  return {
    get describes() {
      return options.approvers;
    },
    async isAdmin(user, asked) {
      await refresh();
      return among(user, options.admins, asked);
    },

    async demands(action) {
      await refresh();
      return rules.demands(action);
    },

    async takes(user, about) {
      await refresh();
      const demands = await rules.demands(about);
      return !('ok' in demands) && (await among(user, demands.approvers)) ? demands.approvals : null;
    },

    async mayAsk(user) {
      try {
        await refresh();
        const { approvers, admins } = options;
        if (approvers.length === 0 || (await among(user, [...approvers, ...admins, ...oncall()])))
          return undefined;
        return refuse('MAY_NOT_ASK', 'Approvers, admins and who is on call may do that. Ask one of them.');
      } catch (error) {
        return refuse(
          'APPROVERS_UNKNOWN',
          `Slack could not say who may do that (${messageOf(error)}), so nobody may right now. Try again in a minute.`,
        );
      }
    },

    asOfNow: () => directory.asOfNow(),

    async mayDecide(user, action, incident, decision, asked = directory.asOfNow()) {
      await refresh();
      const demands = await rules.demands(action);
      // What nobody may approve any more can still be denied.
      if ('ok' in demands && decision === 'approve') return demands;
      const named = 'ok' in demands ? [] : demands.approvers;
      const allowed = decision === 'deny' && named.length === 0 ? options.approvers : named;
      const mayNot = await refuses(user, allowed, asked, decision);
      if (mayNot || decision === 'deny' || 'ok' in demands) return mayNot;
      if (demands.hours && !isWithin(demands.hours, now()))
        return refuse(
          'OUTSIDE_HOURS',
          `The rule “${demands.rule}” has this approved only ${formatHours(demands.hours)}.`,
        );
      return asksForSelf(user, action, incident, demands);
    },

    async stillMay(user, action, incident, asked = directory.asOfNow()) {
      await refresh();
      const demands = await rules.demands(action);
      if ('ok' in demands) return demands;
      return (await refuses(user, demands.approvers, asked)) ?? asksForSelf(user, action, incident, demands);
    },
  };

  /** Who is no member of the organisation is no approver, whichever list has them. */
  async function refuses(
    user: string,
    allowed: readonly Principal[],
    asked: ApproverDirectory,
    decision: 'approve' | 'deny' = 'approve',
  ): Promise<Refusal | undefined> {
    if (allowed.length === 0)
      return refuse(
        'NO_APPROVERS',
        options.approvers.length === 0
          ? 'Nobody may approve yet: an admin says who may, with /sentry settings (or SENTRY_APPROVERS in the environment).'
          : 'Nobody may approve this yet: the policy leaves it to admins or to who is on call, and there are none. An admin says who they are, with /sentry settings.',
      );
    try {
      if (!(await among(user, allowed, asked)))
        return refuse(
          'NOT_AN_APPROVER',
          `Only ${formatPrincipals(allowed)} may ${decision === 'deny' ? 'approve or deny' : 'approve'} this.`,
        );
    } catch (error) {
      return refuse(
        'APPROVERS_UNKNOWN',
        `Slack could not say who may approve (${messageOf(error)}), so nobody may right now. Try again in a minute.`,
      );
    }
    const person = await asked.mayAct(user, null);
    return person.ok ? undefined : person;
  }
}

function asksForSelf(
  user: string,
  action: Action,
  incident: Incident,
  demands: Pick<Demands, 'selfApproval'>,
): Refusal | undefined {
  return !demands.selfApproval && (incident.requesters.includes(user) || action.requestedBy === user)
    ? refuse('SELF_APPROVAL', 'You asked for this yourself: somebody else has to approve it.')
    : undefined;
}
