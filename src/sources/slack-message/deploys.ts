import { type Change, shortRevision } from '../../core/change.ts';
import { anyDeploy } from './deploys/any-deploy.ts';
import { type Deploy, type DeploySender, titleOf } from './deploys/deploy.ts';
import { argo, flux, github, gitlab, jenkins, spinnaker } from './deploys/particular.ts';
import type { Texts } from './message-texts.ts';
import type { Content } from './schema.ts';

/** So far from its message a time that it tells is believed: by another one a change could be put before what it did not cause. */
const BELIEVED_MS = 10 * 60_000;

/** Who tells of deployments in Slack, the most particular first. */
const deploySenders: readonly DeploySender[] = [argo, flux, gitlab, github, jenkins, spinnaker, anyDeploy];

/**
 * The change that a deploy bot's message tells of; null: of none. Its title is made of what was read, never the bot's own words.
 * Where the bot numbers its runs, that is its id; else a start, an end and an edit are put together by what they are of. Every id has who
 * posted it: whatever another app writes, in whose shape ever, is another change.
 */
export function readDeploy(message: Content, texts: Texts, sentAt: string): Change | null {
  for (const sender of deploySenders) {
    const deploy = sender.read(message, texts);
    if (deploy === null) continue;
    const { kind, state, names, environment, from = null, to, by, commits, url = null, run } = deploy;
    const at = timeIn(deploy, [message.ts, sentAt]);
    const teller = `${deploy.sender} ${message.app_id ?? message.bot_id ?? message.username ?? 'app'}`;
    const versionOf = [teller, names[0], environment ?? '-'].join(' ');
    return {
      source: 'slack',
      ...(run ? { id: `${teller} ${run}` } : { id: `${versionOf} ${to ?? message.ts}`, versionOf }),
      kind,
      state,
      title: titleOf(deploy, shortRevision),
      where: names,
      environment,
      startedAt: state === 'started' ? at : null,
      at,
      by,
      from,
      to,
      commits,
      url,
    };
  }
  return null;
}

/** When it took effect, as it tells itself if that was about when it was posted or edited. */
function timeIn({ at }: Deploy, [posted, sent]: readonly [string, string]): string {
  const [first, last] = [Number(posted) * 1000, Number(sent) * 1000];
  const told = Date.parse(at ?? '');
  return told >= first - BELIEVED_MS && told <= last + BELIEVED_MS
    ? new Date(told).toISOString()
    : new Date(last).toISOString();
}
