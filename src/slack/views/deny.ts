import type { types } from '@slack/bolt';
import type { Action } from '../../core/action.ts';
import {
  coveredBy,
  type DenialReach,
  type DenialScope,
  denialScopes,
  endsByItself,
  formatObjects,
  kindOf,
  usualDenialMinutes,
} from '../../core/denial.ts';
import { describePlan, nameOfRun } from '../../core/describe-act.ts';
import { type Block, plain } from './blocks/build.ts';
import { LIMITS } from './blocks/limits.ts';
import { inSentence } from './blocks/plan-steps.ts';
import { cut, oneLine } from './blocks/text.ts';
import { choice, form, textField } from './form.ts';

export const DENY_VIEW = 'sentry_deny_reason';
const REASON = 'reason';
const FAR = 'far';
const LONG = 'long';
const WAY = 'way';
const OPTION_MAX = 75;

/** Asks why not, how far the No reaches and for how long; `context` comes back with the answer. */
export function denyView(context: DenyContext, steps: readonly Action[]): types.ModalView {
  return form({
    callback: DENY_VIEW,
    title: denyTitle(steps),
    submit: 'Don’t do it',
    metadata: context,
    blocks: [
      textField({
        id: REASON,
        label: 'Why not?',
        hint: 'Whoever is asked for it again reads this.',
        max: 1000,
      }),
      ...howFar(steps),
      ...(steps[0]?.beside ? [] : [andThen]),
    ],
  });
}

/** The act, as far as a title has room: `Don’t end session 4711`, else `Don’t restart the workload`. */
function denyTitle(steps: readonly Action[]): string {
  const act = oneLine(describePlan(steps)).replace(/ \([^()]*\)$/, '');
  const titles = [act, nameOfRun(steps)].map((does) => `Don’t ${inSentence(does)}`);
  return titles.find(({ length }) => length <= LIMITS.viewTitle) ?? 'Don’t do it';
}

/** Of the incident's own plans: there is no other way to take something back, and none is looked for once it is fixed. */
const andThen: Block = {
  type: 'input',
  block_id: WAY,
  optional: true,
  label: plain('And then?'),
  element: {
    type: 'checkboxes',
    action_id: WAY,
    options: [{ text: plain('Look for another way'), value: 'yes' }],
  },
};

/** This act, whichever incident asks for it, unless somebody chooses more: so it cannot come back unmarked. */
function howFar(steps: readonly Action[]): readonly Block[] {
  const objects = steps.flatMap((step) => step.objects);
  const hasApplication = objects.some(({ application }) => application !== undefined);
  const kind = kindOf(objects);
  const option = (text: string, value: DenialScope) => ({ text: cut(oneLine(text), OPTION_MAX), value });
  const anything = (scope: DenialScope) =>
    option(`Anything done to ${formatObjects(coveredBy(objects, scope))}`, scope);
  const week = hasApplication && endsByItself(kind) ? ' (all of an application: 7 days)' : '';
  return [
    choice(
      FAR,
      'What is the No about?',
      [
        option(describePlan(steps), 'act'),
        ...(objects.length > 0 ? [anything('object')] : []),
        ...(hasApplication ? [anything('application')] : []),
      ],
      'act',
      'In every incident: who asks for it again is shown your No first, and nothing runs it by itself.',
    ),
    choice(
      LONG,
      'For how long?',
      [
        { text: endsByItself(kind) ? `Until the ${kind} is gone${week}` : 'For 7 days', value: USUAL },
        { text: 'For 1 hour', value: '60' },
        { text: 'For 1 day', value: String(24 * 60) },
        { text: 'For 30 days', value: String(30 * 24 * 60) },
      ],
      USUAL,
      'You can take it back before, with “Take the No back” on this card.',
    ),
  ];
}

const USUAL = 'usual';

export interface DenyContext {
  /** The card's button value: action and plan. */
  readonly plan: string;
  readonly channel: string;
  readonly threadTs: string | null;
}

export interface Denied {
  readonly context: DenyContext;
  readonly reason: string;
  readonly anotherWay: boolean;
  /** How far and for how long, of things of the given kind. */
  readonly reach: (kind: string) => DenialReach;
}

/** What was entered. A window that does not say how far is about the act, as the card shows it. */
export function readDeny(view: {
  readonly private_metadata: string;
  readonly state: { readonly values: Readonly<Record<string, Readonly<Record<string, Entered>>>> };
}): Denied {
  const { values } = view.state;
  const far = values[FAR]?.[FAR]?.selected_option?.value;
  const long = values[LONG]?.[LONG]?.selected_option?.value ?? USUAL;
  const scope = denialScopes.find((each) => each === far) ?? 'act';
  return {
    context: JSON.parse(view.private_metadata) as DenyContext,
    reason: values[REASON]?.[REASON]?.value?.trim() ?? '',
    anotherWay: (values[WAY]?.[WAY]?.selected_options?.length ?? 0) > 0,
    reach: (kind) => ({
      scope,
      minutes: /^\d{1,6}$/.test(long) ? Number(long) : usualDenialMinutes(kind, scope),
    }),
  };
}

interface Entered {
  readonly value?: string | null | undefined;
  readonly selected_option?: { readonly value?: string | undefined } | null | undefined;
  readonly selected_options?: readonly unknown[] | undefined;
}
