import type { types } from '@slack/bolt';
import type { DigEstimate } from '../../incidents/dig-deeper.ts';
import { paragraph, plain, prose, words } from './blocks/build.ts';

export const DIG_VIEW = 'sentry_dig_deeper';

export interface DigContext {
  readonly incidentId: string;
  readonly channel: string;
  readonly threadTs: string | null;
}

/** Says what it may cost before anything is spent. */
export function digView(context: DigContext, { usualUsd, atMostUsd }: DigEstimate): types.ModalView {
  const usual =
    usualUsd === null
      ? 'There is no earlier one to compare with'
      : `Usually it costs about ${dollars(usualUsd)}`;
  return {
    type: 'modal',
    callback_id: DIG_VIEW,
    private_metadata: JSON.stringify(context),
    title: plain('Dig deeper'),
    submit: plain('Dig deeper'),
    close: plain('Back'),
    blocks: [
      prose(
        paragraph(
          words(
            `Claude looks at ${context.incidentId} again, at high effort, with all that was found and said.`,
          ),
        ),
        paragraph(words(`${usual}; it ends at ${dollars(atMostUsd)} at the latest.`)),
      ),
    ],
  };
}

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;
