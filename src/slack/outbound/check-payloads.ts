import type { types } from '@slack/bolt';
import { OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { SlackConnection } from '../ports.ts';
import type { Block } from '../views/blocks/build.ts';
import { type SamplePayload, samplePayloads } from './sample-payloads.ts';
import { webClient } from './web-client.ts';

/** What Slack would not show, why in its words, and whether it would show what is sent there instead. */
export interface Refused {
  readonly name: string;
  readonly problems: readonly string[];
  readonly simplerIsShown: boolean;
}

/** What `blocks.validate` answers to what it refuses. */
interface Refusal {
  readonly error?: string;
  readonly errors?: readonly { readonly pointer?: string; readonly message?: string }[];
  readonly response_metadata?: { readonly messages?: readonly string[] };
}

/**
 * Has Slack check every kind of message and window that Sentry sends; nothing of it is posted.
 * @throws OpsError SLACK_CHECK when it does not check such things at all, or not now.
 */
export async function checkPayloads(
  connection: SlackConnection,
  log: Log,
  payloads: readonly SamplePayload[] = samplePayloads(),
): Promise<readonly Refused[]> {
  const client = webClient(connection, log);
  const problemsOf = async (
    what: Parameters<typeof client.blocks.validate>[0],
  ): Promise<readonly string[]> => {
    try {
      await client.blocks.validate(what);
      return [];
    } catch (error) {
      const answer = (error as { readonly data?: Refusal }).data;
      if (!/^invalid_(blocks|message|view)$/.test(answer?.error ?? ''))
        throw cannotCheck(error, answer?.error);
      const told = answer?.errors?.map(({ message, pointer }) => `${message} (${pointer})`);
      return told ?? answer?.response_metadata?.messages ?? [String(answer?.error)];
    }
  };
  const refused: Refused[] = [];
  for (const payload of payloads) {
    const problems = await problemsOf(
      'view' in payload ? { view: payload.view } : { message: payload.message as Sendable },
    );
    if (problems.length === 0) continue;
    const simpler = 'simpler' in payload ? payload.simpler : null;
    const simplerIsShown =
      simpler !== null && (await problemsOf({ blocks: [...simpler] as Block[] })).length === 0;
    refused.push({ name: payload.name, problems, simplerIsShown });
  }
  return refused;
}

type Sendable = { readonly blocks: Block[]; readonly attachments: types.MessageAttachment[] };

function cannotCheck(error: unknown, code: string | undefined): OpsError {
  return code === 'unknown_method'
    ? new OpsError('SLACK_CHECK', 'this Slack does not check messages before they are posted', {
        hint: 'Nothing to do: what it refuses is sent in a simpler form, at last as text alone.',
        cause: error,
      })
    : new OpsError('SLACK_CHECK', `the messages could not be checked: ${code ?? String(error)}`, {
        hint: 'Wait a minute, since Slack allows few such checks, and try again.',
        cause: error,
      });
}
