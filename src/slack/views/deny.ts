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
import { describePlan } from '../../core/describe-act.ts';
import { type Block, plain } from './blocks/build.ts';
import { cut, oneLine } from './blocks/text.ts';
import { choice } from './form.ts';

export const DENY_VIEW = 'sentry_deny_reason';
const REASON = 'reason';
const FAR = 'far';
const LONG = 'long';
const WAY = 'way';
const OPTION_MAX = 75;

/** Asks why not, how far the No reaches and for how long; `context` comes back with the answer. */
export function denyView(context: DenyContext, steps: readonly Action[]): types.ModalView {
  return {
    type: 'modal',
    callback_id: DENY_VIEW,
    private_metadata: JSON.stringify(context),
    title: plain('Deny'),
    submit: plain('Deny'),
    close: plain('Back'),
    blocks: [
      {
        type: 'input',
        block_id: REASON,
        label: plain('Why not?'),
        hint: plain('It goes on record, and on later cards that the No is about.'),
        element: { type: 'plain_text_input', action_id: REASON, multiline: true, max_length: 1000 },
      },
      ...howFar(steps),
      ...(steps[0]?.beside ? [] : [andThen]),
    ],
  };
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

/** This very plan unless somebody chooses more. Nothing to choose where it names nothing that it touches. */
function howFar(steps: readonly Action[]): readonly Block[] {
  const objects = steps.flatMap((step) => step.objects);
  const [first] = steps;
  if (first === undefined || objects.length === 0) return [];
  const hasApplication = objects.some(({ application }) => application !== undefined);
  const kind = kindOf(objects);
  const option = (text: string, value: DenialScope) => ({ text: cut(oneLine(text), OPTION_MAX), value });
  const anything = (scope: DenialScope) =>
    option(`Anything done to ${formatObjects(coveredBy(objects, scope))}`, scope);
  const ends = endsByItself(kind);
  return [
    choice(
      FAR,
      'What is the No about?',
      [
        option(`Only this, in ${first.incidentId}: ${describePlan(steps)}`, 'action'),
        anything('object'),
        ...(hasApplication ? [anything('application')] : []),
      ],
      'action',
    ),
    choice(
      LONG,
      'For how long, if it is about anything done to it?',
      [
        {
          text: ends ? `Until the ${kind} is gone (all of an application: 7 days)` : 'For 7 days',
          value: USUAL,
        },
        { text: 'For 1 hour', value: '60' },
        { text: 'For 1 day', value: String(24 * 60) },
        { text: 'For 30 days', value: String(30 * 24 * 60) },
      ],
      USUAL,
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

/** What was entered. A window of before it could be chosen says how far today as it did then: this action here. */
export function readDeny(view: {
  readonly private_metadata: string;
  readonly state: { readonly values: Readonly<Record<string, Readonly<Record<string, Entered>>>> };
}): Denied {
  const { values } = view.state;
  const far = values[FAR]?.[FAR]?.selected_option?.value;
  const long = values[LONG]?.[LONG]?.selected_option?.value ?? USUAL;
  const scope = denialScopes.find((each) => each === far) ?? 'action';
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
