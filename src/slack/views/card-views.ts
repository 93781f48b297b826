import type { types } from '@slack/bolt';
import type { Action } from '../../core/action.ts';
import { describeAct, describePlan } from '../../core/describe-act.ts';
import type { EditableStep, Edited } from '../../incidents/edit-plan.ts';
import type { Asked } from '../../incidents/questions/why-this.ts';
import { type Block, bold, list, paragraph, prose, type Span, words } from './blocks/build.ts';
import { cut, oneLine } from './blocks/text.ts';
import { type Entered, form, personField, readField, textField } from './form.ts';
import { modal } from './modal.ts';

/** What an open card asks for in a window, and where it was pressed. */
export interface CardContext {
  /** The card's button value: action and plan. */
  readonly plan: string;
  readonly channel: string;
  readonly threadTs: string | null;
}

export const EDIT_VIEW = 'sentry_edit_plan';
export const HAND_OVER_VIEW = 'sentry_hand_over';
const TO = 'to';
/** Of one argument. */
const ARGUMENT = 500;

/** Why this is asked for, from the record. */
export const whyThisView = (asked: readonly Asked[]): types.ModalView =>
  modal(
    'Why this?',
    asked.map(({ title, lines }) =>
      prose(paragraph(bold(title)), list(lines.map((line) => [words(oneLine(line))]))),
    ),
  );

/** The arguments that may be changed, a field each. `problem`: why what was entered is not asked for. */
export function editView(
  context: CardContext,
  steps: readonly Action[],
  editable: readonly EditableStep[],
  entered: { readonly problem: string; readonly edited: Edited } | null = null,
): types.ModalView {
  const fields = editable.flatMap(({ step, fields: each }) => {
    const of = steps.find((action) => action.step === step);
    return each.map(({ name, value }) =>
      textField({
        id: `${step}.${name}`,
        label: cut(`${name.replaceAll('_', ' ')}${of ? `: ${oneLine(describeAct(of))}` : ''}`, 120),
        value: entered?.edited[step]?.[name] ?? value,
        lines: 'one',
        optional: true,
        max: ARGUMENT,
      }),
    );
  });
  return form({
    callback: EDIT_VIEW,
    title: 'Change the plan',
    submit: 'Ask for it',
    metadata: context,
    blocks: [
      ...(entered ? [says(bold('Not asked for: '), words(cut(oneLine(entered.problem), 600)))] : []),
      says(
        words(
          'I check it like any plan and ask for it anew, in your name; the card that stands is void then.',
        ),
      ),
      ...fields,
    ],
  });
}

/** What was entered, by step and argument; only what a field of ours has. */
export function readEdited(values: Entered): Edited {
  const edited: Record<number, Record<string, string>> = {};
  for (const id of Object.keys(values)) {
    const [, step, name] = /^([1-9])\.(\w+)$/.exec(id) ?? [];
    if (step && name) edited[Number(step)] = { ...edited[Number(step)], [name]: readField(values, id) };
  }
  return edited;
}

/** Who else is to decide. */
export function handOverView(context: CardContext, steps: readonly Action[]): types.ModalView {
  return form({
    callback: HAND_OVER_VIEW,
    title: 'Ask somebody else',
    submit: 'Ask them',
    metadata: context,
    blocks: [
      says(words(`They are mentioned in the thread: ${cut(oneLine(describePlan(steps)), 200)}.`)),
      personField(TO, 'Who is to decide?'),
    ],
  });
}

export const readHandOver = (values: Entered): string => readField(values, TO);

const says = (...spans: readonly Span[]): Block => prose(paragraph(...spans));
