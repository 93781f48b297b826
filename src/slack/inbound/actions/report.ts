import { messageOf } from '../../../core/errors.ts';
import { parseIncidentId } from '../../../core/ids.ts';
import type { SlackContext } from '../../context.ts';
import { reportOf } from '../commands/report-command.ts';
import type { Pressed } from './pressed.ts';

/** *Post-mortem*: makes the post-incident report, or says where it is. */
export async function makeReport(context: SlackContext, { audience, teamId, value }: Pressed): Promise<void> {
  const id = parseIncidentId(value);
  if (!id) return context.tell(audience, { text: 'I do not know this button any more. Nothing was done.' });
  const { userId, channel } = audience;
  try {
    const may = await context.directory.mayAct(userId, teamId);
    await context.tell(
      audience,
      may.ok ? await reportOf(context, id, { userId, channel }) : { text: may.reason },
    );
  } catch (error) {
    context.deps.log.error({ incident: id, error: messageOf(error) }, 'a report could not be made');
    await context.tell(audience, {
      text: 'That did not work. Press again in a minute: I say then where it stands.',
    });
  }
}
