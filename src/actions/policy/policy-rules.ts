import { readFileSync } from 'node:fs';
import type { ChosenEffort } from '../../core/effort.ts';
import { messageOf, OpsError, type Refusal, refuse } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Principal } from '../../core/principal.ts';
import type { Sql } from '../../core/sql.ts';
import { type AlertFacts } from '../../safety/alert-matcher.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import { auditConfigChange } from '../../safety/audit/audit-config-change.ts';
import { fileMark } from '../../safety/paths/file-mark.ts';
import { type EffortRule, effortFor } from './effort-rules.ts';
import { type PolicyProblem, type PolicySubjects, readPolicy } from './read-policy.ts';
import {
  approversNow,
  type Demands,
  type PolicyPeople,
  type Rule,
  ruleFor,
  type Subject,
  wordsForNobody,
} from './rule.ts';

/** What approvals take, by policy.yaml where there is one. */
export interface PolicyRules {
  /** What has to be so for this to be approved; a refusal when nobody may approve it. Looks at the file each time. */
  demands(about: Omit<Subject, 'environment'>): Promise<Demands | Refusal>;
  /** How much is done about an alert; `adaptive` where nothing says so. Looks at the file each time. */
  effort(facts: AlertFacts): Promise<ChosenEffort>;
  /** For `doctor`, App Home and the first screen. */
  status(): {
    readonly path: string | null;
    /** Null: there is no file, and everything is as without one. */
    readonly rules: number | null;
    /** Of the file as it is now, when it cannot be used; the last good one is in force. */
    readonly problems: readonly PolicyProblem[];
  };
}

export interface PolicyRulesOptions {
  readonly sql: Sql;
  readonly audit: AuditLog;
  readonly log: Log;
  /** Null: no file, ever. */
  readonly path: string | null;
  /** Somebody named the file: not to find it is a fault. */
  readonly isRequired: boolean;
  /** As they are at the moment of asking. */
  readonly people: PolicyPeople;
  /** What there is for a rule to be about, at the moment of reading. */
  readonly subjects: () => PolicySubjects | null;
  readonly approvers: readonly Principal[];
  readonly approvalMinutes: number;
  /** Of a target, by its name. */
  readonly environmentOf: (target: string) => string;
}

/** Of the text kept in the audit log. */
const KEPT = 50_000;

/** Reads the file; throws OpsError POLICY with its lines when it is there and wrong. Later mistakes leave the last good one in force. */
export async function openPolicyRules(options: PolicyRulesOptions): Promise<PolicyRules> {
  const { path, log } = options;
  let rules: readonly Rule[] | null = null;
  let effort: readonly EffortRule[] = [];
  let problems: readonly PolicyProblem[] = [];
  let mark: string | undefined;
  let warned = '';
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    if (path === null) return;
    const now = fileMark(path);
    if (now === mark) return;
    const text = textOf(path);
    if (text === null) {
      // Taken away: what it asked for stays in force until the next start.
      problems = rules === null && !options.isRequired ? [] : [{ line: 1, message: 'the file is not there' }];
    } else {
      const found = readPolicy(text, options.subjects());
      problems = 'problems' in found ? found.problems : [];
      if ('rules' in found) {
        const details = { path, rules: found.rules.length, text: text.slice(0, KEPT) };
        await auditConfigChange(options, { name: 'policy', text, kind: 'policy.loaded', details });
        rules = found.rules;
        effort = found.effort;
        log.info({ path, rules: found.rules.length }, 'the policy is in force');
      } else {
        const said = problems.map(({ line, message }) => `${path}:${line}: ${message}`).slice(0, 20);
        await auditConfigChange(options, {
          name: 'policy.rejected',
          text,
          kind: 'policy.rejected',
          details: { path, problems: said },
        });
        log.error({ path, problems: said }, 'the policy cannot be used; what was in force before stays so');
      }
    }
    // Only now: a version that could not be put into the audit log is read again.
    mark = now;
  }

  /** The one that is being read is waited for, and what was written meanwhile is read after it. */
  async function refresh(): Promise<void> {
    await reading;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    await reading;
    warn();
  }

  /** No fault of the file: the settings may name somebody again at any time. Told when it changes. */
  function warn(): void {
    const warnings = wordsForNobody(rules ?? [], options.people);
    const said = warnings.join('\n');
    if (said !== warned && warnings.length > 0)
      log.warn({ path, warnings }, 'the policy has approvers that mean nobody');
    warned = said;
  }

  await refresh();
  if (problems.length > 0)
    throw new OpsError(
      'POLICY',
      `The policy cannot be used:\n${problems.map(({ line, message }) => `  ${path}:${line}: ${message}`).join('\n')}`,
      { hint: 'Correct it; docs/operations.md has an example. SENTRY_POLICY names the file.' },
    );

  return {
    status: () => ({ path, rules: rules?.length ?? null, problems }),
    async effort(facts) {
      // Unreadable, what was in force before stays so: nobody waits for a file to be given less.
      await refresh().catch((error: unknown) =>
        log.error({ path, error: messageOf(error) }, 'the policy cannot be read'),
      );
      return effortFor(effort, facts);
    },
    async demands(about) {
      await refresh();
      const subject: Subject = { ...about, environment: options.environmentOf(about.target) };
      const isHigh = isHighRisk(subject.risk);
      const usual = usualDemands(subject, options);
      if (rules === null) return usual;
      const rule = ruleFor(rules, isHigh ? { ...subject, risk: 'high' } : subject);
      if (!rule)
        return refuse(
          'POLICY_SILENT',
          `No rule of the policy covers ${subject.tool} on ${subject.target}: nobody may approve it.`,
        );
      if (rule.never)
        return refuse(
          'POLICY_FORBIDS',
          `The policy's rule "${rule.name}" lets nobody approve ${subject.tool} on ${subject.target}.`,
        );
      return {
        rule: rule.name,
        // Destructive: two people, unless the rule says otherwise.
        approvals: rule.approvals ?? (isHigh ? 2 : 1),
        approvers: rule.approvers ? approversNow(rule.approvers, options.people) : usual.approvers,
        selfApproval: rule.selfApproval ?? usual.selfApproval,
        expiresMinutes: rule.expiresMinutes ?? usual.expiresMinutes,
        hours: rule.hours,
        perTarget: rule.perTarget,
        everywhere: rule.everywhere,
        autonomy: rule.autonomy,
      };
    },
  };
}

/** What is neither low nor medium counts as high, whatever it says. */
const isHighRisk = (risk: string): boolean => risk !== 'low' && risk !== 'medium';

type Usual = Pick<PolicyRulesOptions, 'approvers' | 'approvalMinutes'>;

function usualDemands({ risk }: Pick<Subject, 'risk'>, { approvers, approvalMinutes }: Usual): Demands {
  return {
    rule: null,
    approvals: 1,
    approvers,
    selfApproval: !isHighRisk(risk),
    expiresMinutes: approvalMinutes,
    hours: null,
    perTarget: null,
    everywhere: null,
    autonomy: null,
  };
}

/** One approver, whoever is configured; no self-approval of what is of high risk. */
export function withoutPolicy(usual: Usual): Pick<PolicyRules, 'demands'> {
  return { demands: async (about) => usualDemands(about, usual) };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new OpsError('POLICY', `The policy cannot be read: ${messageOf(error)}`, {
      hint: `Sentry must be able to read ${path}.`,
      cause: error,
    });
  }
}
