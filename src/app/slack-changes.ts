import { toldInPrivate } from '../changes/told-in-private.ts';
import { boundedChange, type Change } from '../core/change.ts';
import { messageOf } from '../core/errors.ts';
import { hasStrangers, isOpen } from '../slack/people/access.ts';
import { messageUrl } from '../slack/people/identity.ts';
import type { SlackMessage } from '../slack/ports.ts';
import { recordChanges } from './record-changes.ts';
import type { Services } from './services.ts';

type Deps = Pick<Services, 'sql' | 'records' | 'slackWorkspace' | 'targets' | 'log'>;

/**
 * Puts on record what another app says in a channel was deployed: whole where everybody of the workspace reads along, else only what
 * gives nothing away. Where people of another company post, only of an alert channel: there somebody here said that it counts. Throws when
 * it could not be stored.
 */
export async function recordSlackChanges(
  { sql, records, slackWorkspace, targets, log }: Deps,
  message: SlackMessage,
  changes: readonly Change[],
  isAlertChannel: boolean,
): Promise<void> {
  if (changes.length === 0) return;
  const record = recordChanges({ sql, records, targets });
  const { access, directory } = slackWorkspace;
  const isKnown = slackWorkspace.own().userId !== null;
  const there = isKnown ? messageUrl(slackWorkspace.identity(), message.channel, message.ts) : null;
  const sight = await access.sightOf(message.channel);
  if (hasStrangers(sight) && !isAlertChannel) return;
  const open = isOpen(sight);
  const names = [...targets.values()].flatMap(({ name, aliases }) => [name, ...aliases]);
  for (const change of changes) {
    const told = open
      ? { ...change, by: await nameOf(change.by), url: change.url ?? there }
      : toldInPrivate(change, names, there);
    if (told) await record(boundedChange(told, new Date()));
  }

  /** Whom a message mentions, by name: a mention would call them wherever it is shown. */
  async function nameOf(by: string | null): Promise<string | null> {
    const [, id] = /^<@(\w+)(?:\|[^<>]*)?>$/.exec(by ?? '') ?? [];
    if (id === undefined) return by;
    try {
      return (await directory.name(id)).replace(/^@/, '');
    } catch (error) {
      log.warn({ user: id, error: messageOf(error) }, 'who deployed cannot be told by name');
      return null;
    }
  }
}
