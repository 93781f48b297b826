import type { Risk } from '../../core/action.ts';
import { matchesGlob } from '../../core/glob.ts';
import type { Hours } from '../../core/hours.ts';
import type { Principal } from '../../core/principal.ts';

/** What a rule is about. */
export interface Subject {
  readonly tool: string;
  readonly target: string;
  readonly environment: string;
  readonly risk: Risk;
  readonly runbookId: string | null;
}

/** At most `actions` begun in any `minutes`. */
export interface Cap {
  readonly actions: number;
  readonly minutes: number;
}

/** It may run without asking once it has earned that. */
export interface Autonomy {
  /** Approved successes of the same runbook, tool and target in a row. */
  readonly after: number;
  readonly atMost: Cap;
  /** How long the card stands before it runs, for a veto. */
  readonly vetoMinutes: number;
}

/** What has to be so for an action to be approved. Null: as without a policy. */
export interface Demands {
  /** The rule's name; null without a policy. */
  readonly rule: string | null;
  /** How many people. */
  readonly approvals: number;
  readonly approvers: readonly Principal[];
  /** Whoever asked for it may be among them. */
  readonly selfApproval: boolean;
  readonly expiresMinutes: number;
  readonly hours: Hours | null;
  /** On one target, and on all of them together. */
  readonly perTarget: Cap | null;
  readonly everywhere: Cap | null;
  readonly autonomy: Autonomy | null;
}

/** The words of the file for people whom the settings name. Kept as words: whom they mean may change while Sentry runs. */
export type ApproverWord = 'oncall' | 'admins';

/** Who the words mean, at the moment of asking. */
export interface PolicyPeople {
  /** Null: none is configured. */
  readonly oncallGroup: string | null;
  readonly admins: readonly Principal[];
}

/** One rule of policy.yaml. Names may have `*` for any part. An absent list matches everything. */
export interface Rule
  extends Omit<Demands, 'rule' | 'approvals' | 'approvers' | 'selfApproval' | 'expiresMinutes'> {
  readonly name: string;
  readonly tools: readonly string[] | null;
  readonly targets: readonly string[] | null;
  readonly environments: readonly string[] | null;
  readonly risks: readonly Risk[] | null;
  readonly runbooks: readonly string[] | null;
  /** Nobody may approve it. */
  readonly never: boolean;
  readonly approvals: number | null;
  readonly approvers: readonly (Principal | ApproverWord)[] | null;
  readonly selfApproval: boolean | null;
  readonly expiresMinutes: number | null;
}

/** The first rule that matches, as in the file. */
export function ruleFor(rules: readonly Rule[], subject: Subject): Rule | undefined {
  return rules.find(
    (rule) =>
      among(rule.tools, subject.tool) &&
      among(rule.targets, subject.target) &&
      among(rule.environments, subject.environment) &&
      (rule.risks === null || rule.risks.includes(subject.risk)) &&
      (rule.runbooks === null || (subject.runbookId !== null && among(rule.runbooks, subject.runbookId))),
  );
}

/** Empty: there is nobody whom the rule names. */
export const approversNow = (
  approvers: NonNullable<Rule['approvers']>,
  people: PolicyPeople,
): readonly Principal[] =>
  approvers.flatMap((who) => (typeof who === 'string' ? meantBy(who, people) : [who]));

/** For an operator: the words of these rules that mean nobody as things are. */
export const wordsForNobody = (rules: readonly Rule[], people: PolicyPeople): readonly string[] =>
  rules.flatMap(({ name, approvers }) =>
    (approvers ?? []).flatMap((who) =>
      typeof who === 'string' && meantBy(who, people).length === 0
        ? [`rule "${name}": "${who}" means nobody: ${NOBODY[who]}`]
        : [],
    ),
  );

const NOBODY: Readonly<Record<ApproverWord, string>> = {
  oncall: 'no group is on call',
  admins: 'there are none',
};

function meantBy(word: ApproverWord, { oncallGroup, admins }: PolicyPeople): readonly Principal[] {
  if (word === 'admins') return admins;
  return oncallGroup ? [{ kind: 'group', name: oncallGroup }] : [];
}

function among(patterns: readonly string[] | null, name: string): boolean {
  return patterns === null || patterns.some((pattern) => matchesGlob(pattern, name));
}
