import type { BlockAction, ButtonAction, OverflowAction, RespondFn } from '@slack/bolt';
import type { Audience } from '../../outbound/tell.ts';

/** A press as the handlers see it: who and where come from Slack's signed payload, never from the button's value. */
export interface Pressed {
  readonly value: string;
  readonly userId: string;
  readonly teamId: string | null;
  readonly triggerId: string;
  readonly audience: Audience;
  /** Set when it was pressed in a window; on Home there is none to stand on. */
  readonly viewId: string | null;
}

export function readPress(
  body: BlockAction<ButtonAction | OverflowAction>,
  respond: RespondFn | undefined,
): Pressed {
  const [action] = body.actions;
  const message = body.message as { readonly ts?: string; readonly thread_ts?: string } | undefined;
  const container = body.container as { readonly thread_ts?: string } | undefined;
  return {
    value: (action && 'selected_option' in action ? action.selected_option.value : action?.value) ?? '',
    userId: body.user.id,
    teamId: body.user.team_id ?? null,
    triggerId: body.trigger_id,
    viewId: body.view?.type === 'modal' ? body.view.id : null,
    audience: {
      userId: body.user.id,
      channel: body.channel?.id ?? null,
      threadTs: message?.thread_ts ?? container?.thread_ts ?? message?.ts ?? null,
      respond: body.response_url ? respond : undefined,
    },
  };
}
