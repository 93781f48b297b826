import { type Change, shortRevision } from '../../core/change.ts';
import { anyDeploy } from './deploys/any-deploy.ts';
import { type DeploySender, titleOf } from './deploys/deploy.ts';
import { argo, flux, github, gitlab, jenkins, spinnaker } from './deploys/particular.ts';
import type { Texts } from './message-texts.ts';
import type { Content } from './schema.ts';

/** Who tells of deployments in Slack, the most particular first. */
const deploySenders: readonly DeploySender[] = [argo, flux, gitlab, github, jenkins, spinnaker, anyDeploy];

/**
 * The change that a deploy bot's message tells of; null: of none. Its title is made of what was read, never the bot's own words.
 * Where the bot numbers its runs, that is its id; else a start, an end and an edit are put together by what they are of.
 */
export function readDeploy(message: Content, texts: Texts, sentAt: string): Change | null {
  for (const sender of deploySenders) {
    const deploy = sender.read(message, texts);
    if (deploy === null) continue;
    const { kind, state, names, environment, from = null, to, by, commits, url = null, run } = deploy;
    const at = deploy.at ?? new Date(Number(sentAt) * 1000).toISOString();
    const versionOf = [deploy.sender, names[0], environment ?? '-'].join(' ');
    return {
      source: 'slack',
      ...(run ? { id: `${deploy.sender} ${run}` } : { id: `${versionOf} ${to ?? message.ts}`, versionOf }),
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
