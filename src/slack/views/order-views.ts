import type { types } from '@slack/bolt';
import { severities } from '../../core/alert.ts';
import type { Incident } from '../../core/incident.ts';
import { paragraph, prose, words } from './blocks/build.ts';
import { choice, form, personField, textField } from './form.ts';

/** What is asked for in a window: the act, and where it was pressed. */
export interface OrderContext {
  readonly verb: 'severity' | 'assign' | 'merge' | 'close';
  readonly incidentId: string;
  readonly channel: string;
  readonly threadTs: string | null;
}

export const ORDER_VIEW = 'sentry_order';
/** The one field of each window. */
export const ORDER_FIELD = 'value';

/** `onCall`: who is proposed as the one to have it. */
export function orderView(
  context: OrderContext,
  incident: Incident,
  onCall: string | null = null,
): types.ModalView {
  const { id } = incident;
  const window = (
    title: string,
    submit: string,
    says: string,
    block: Parameters<typeof form>[0]['blocks'][number],
  ) =>
    form({
      callback: ORDER_VIEW,
      title,
      submit,
      metadata: context,
      blocks: [prose(paragraph(words(says))), block],
    });
  switch (context.verb) {
    case 'severity':
      return window(
        'Change severity',
        'Change',
        `How bad is ${id}? Your word holds until something worse is told.`,
        choice(
          ORDER_FIELD,
          'Severity',
          severities.filter((each) => each !== 'unknown').map((value) => ({ text: value, value })),
          incident.severity,
        ),
      );
    case 'assign':
      return window(
        'Assign',
        'Assign',
        `They have ${id} then, and are mentioned in its thread once. Nobody else is called. It can be given to members who may read of it: no guests, no apps.`,
        personField(ORDER_FIELD, 'To', onCall),
      );
    case 'merge':
      return window(
        'Merge',
        'Merge',
        `${id} rests as a part of the one you name, until somebody splits it.`,
        textField({
          id: ORDER_FIELD,
          label: 'Into',
          hint: 'Its number, such as INC-3',
          lines: 'one',
          max: 20,
        }),
      );
    case 'close':
      return window(
        'Close',
        'Close',
        `${id} is over because you say so. What waits for approval is withdrawn; if its alert fires again, I look into it again.`,
        textField({ id: ORDER_FIELD, label: 'Why', optional: true, max: 500 }),
      );
  }
}
