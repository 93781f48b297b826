import type { types } from '@slack/bolt';
import { plain } from '../blocks/build.ts';

export const DENY_VIEW = 'sentry_deny_reason';
const REASON = 'reason';
const WAY = 'way';

/** Asks why; `context` comes back with the answer. */
export function denyView(context: DenyContext): types.ModalView {
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
        hint: plain('It goes on record, and to the investigation if you ask for another way.'),
        element: { type: 'plain_text_input', action_id: REASON, multiline: true, max_length: 1000 },
      },
      {
        type: 'input',
        block_id: WAY,
        optional: true,
        label: plain('And then?'),
        element: {
          type: 'checkboxes',
          action_id: WAY,
          options: [{ text: plain('Look for another way'), value: 'yes' }],
        },
      },
    ],
  };
}

export interface DenyContext {
  /** The card's button value: action and plan. */
  readonly plan: string;
  readonly channel: string;
  readonly threadTs: string | null;
}

/** What was entered; null when the window is not ours. */
export function readDeny(view: {
  readonly private_metadata: string;
  readonly state: { readonly values: Readonly<Record<string, Readonly<Record<string, Entered>>>> };
}): { readonly context: DenyContext; readonly reason: string; readonly anotherWay: boolean } {
  const { values } = view.state;
  return {
    context: JSON.parse(view.private_metadata) as DenyContext,
    reason: values[REASON]?.[REASON]?.value?.trim() ?? '',
    anotherWay: (values[WAY]?.[WAY]?.selected_options?.length ?? 0) > 0,
  };
}

interface Entered {
  readonly value?: string | null | undefined;
  readonly selected_options?: readonly unknown[] | undefined;
}
