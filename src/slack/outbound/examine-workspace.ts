import type { WebClient } from '@slack/web-api';
import { messageOf } from '../../core/errors.ts';
import type { Finding } from '../../core/finding.ts';
import { formatGroup, formatPrincipals, type Principal } from '../../core/principal.ts';
import type { Channels } from '../people/channels.ts';
import { nameEverybody } from '../people/name-everybody.ts';
import type { UserDirectory } from '../people/user-directory.ts';
import { BOT_SCOPES } from './scopes.ts';
import { codeOf } from './web-errors.ts';

/** Who decides and where, as it is to be looked at. */
export interface Named {
  readonly alertChannels: readonly string[];
  readonly adminChannel: string;
  readonly approvers: readonly Principal[];
  readonly admins: readonly Principal[];
  readonly oncallGroup: string | null;
  readonly isOfAnother: boolean;
  readonly isForged: boolean;
}

interface Deps {
  readonly client: WebClient;
  readonly channels: Pick<Channels, 'idOf' | 'isPrivate' | 'nameOf'>;
  readonly directory: Pick<
    UserDirectory,
    'groupMembers' | 'channelMembers' | 'mayAct' | 'name' | 'groupName'
  >;
}

const APP = 'api.slack.com/apps → your app';

/** Whether the app, the channels and the people are as Sentry needs them, and what to do where they are not. Posts and joins nothing. */
export async function examineWorkspace(deps: Deps, named: Named): Promise<readonly Finding[]> {
  const { alertChannels, adminChannel, approvers, admins, oncallGroup } = named;
  const findings = [
    await examineApp(deps.client),
    ...(named.isOfAnother ? [ofAnother] : []),
    ...(named.isForged ? [forged] : []),
    ...(await Promise.all(alertChannels.map((name) => examineChannel(deps, 'Alert channel', name, true)))),
    await examineChannel(deps, 'Admin channel', adminChannel, false),
    await examinePeople(deps, 'Approvers', 'may approve', approvers),
    await examinePeople(deps, 'Admins', 'is an admin', admins),
    ...(oncallGroup === null
      ? []
      : [await examinePeople(deps, 'On call', 'is on call', [{ kind: 'group', name: oncallGroup }])]),
  ];
  // They are read in windows and at a terminal, where nothing else writes an id out.
  return Promise.all(findings.map(async (one) => ({ ...one, says: await nameEverybody(deps, one.says) })));
}

const well = (part: string, says: string): Finding => ({ part, ok: true, says, todo: null });
const ill = (part: string, says: string, todo: string): Finding => ({ part, ok: false, says, todo });

const ofAnother = ill(
  'Workspace',
  'what was set up is of another workspace, and counts for nothing here',
  'Was the token changed by mistake? Put SLACK_BOT_TOKEN back; else set this workspace up with /sentry settings.',
);

const forged = ill(
  'Settings',
  'what was set up is not signed by this Sentry, and counts for nothing',
  'Was SENTRY_VAULT_KEY or the data folder changed? Put it back. Else somebody wrote into the database: look, then set it up again with /sentry settings.',
);

/** The token and its scopes. A server that does not tell the scopes is no Slack, and its methods say what they lack. */
async function examineApp(client: WebClient): Promise<Finding> {
  const part = 'Slack app';
  try {
    const { user = 'sentry', team = 'the workspace', response_metadata: more } = await client.auth.test();
    const has = more?.scopes;
    const missing = has ? Object.keys(BOT_SCOPES).filter((scope) => !has.includes(scope)) : [];
    if (missing.length === 0) return well(part, `@${user} in ${team}${has ? ', with every scope' : ''}`);
    return ill(
      part,
      `it lacks ${missing.map((scope) => (missing.length > 4 ? scope : `${scope} (${BOT_SCOPES[scope]})`)).join(', ')}`,
      `${APP} → OAuth & Permissions → Bot Token Scopes: add ${missing.join(', ')}, then press Reinstall. The token stays the same.`,
    );
  } catch (error) {
    return ill(part, `Slack refuses the bot token: ${codeOf(error)}`, tokenHint(codeOf(error)));
  }
}

const tokenHint = (code: string): string =>
  /^(invalid_auth|not_authed|account_inactive|token_revoked|token_expired)$/.test(code)
    ? `Copy it again into SLACK_BOT_TOKEN: ${APP} → OAuth & Permissions → Bot User OAuth Token (xoxb-…).`
    : 'Look at the network: slack.com must be reached over HTTPS.';

/** Whether Sentry is in it; `reads`: and may read what is posted there. */
async function examineChannel(
  { client, channels }: Deps,
  what: string,
  name: string,
  reads: boolean,
): Promise<Finding> {
  const channel = await channels.idOf(name);
  let part = `${what} #${name.replace(/^#/, '')}`;
  try {
    const { channel: found } = await client.conversations.info({ channel });
    if (found?.name) part = `${what} #${found.name}`;
    if (found?.is_member === false) return ill(part, ...channelProblem('not_in_channel'));
    if (reads) await client.conversations.history({ channel, limit: 1 });
    return well(part, reads ? 'I am in it, and read it' : 'I am in it');
  } catch (error) {
    return ill(part, ...channelProblem(codeOf(error)));
  }
}

/** What is wrong with a channel, and what to do: each in words of its own. */
function channelProblem(code: string): readonly [says: string, todo: string] {
  switch (code) {
    case 'not_in_channel':
      return ['I am not in it', 'Type /invite @Sentry in it.'];
    case 'channel_not_found':
      return [
        'Slack knows no such channel, or it is private and I am not in it',
        'Look at its name or id (click the channel’s name: the id stands at the bottom of About). Where it is private, type /invite @Sentry in it.',
      ];
    case 'is_archived':
      return ['it is archived', 'Choose another one.'];
    case 'missing_scope':
      return [
        'the app may not read channels',
        `${APP} → OAuth & Permissions: add the scopes of manifest.yml, then press Reinstall.`,
      ];
    default:
      return [`Slack answers ${code}`, 'Try again in a minute.'];
  }
}

async function examinePeople(
  { directory }: Deps,
  part: string,
  verb: string,
  principals: readonly Principal[],
): Promise<Finding> {
  if (principals.length === 0) return ill(part, `nobody ${verb}`, 'Say who: /sentry settings.');
  const { people, problems } = await peopleOf(directory, principals);
  if (problems.length > 0)
    return ill(part, problems.join(' '), 'Choose others, or put the group right in Slack.');
  return people.length === 0
    ? ill(part, `nobody of ${formatPrincipals(principals)} is a full member here`, 'Choose others.')
    : well(
        part,
        `${formatPrincipals(principals)}: ${people.length === 1 ? '1 person' : `${people.length} people`}`,
      );
}

/** Of those the members of this workspace who may act, and why some cannot be told. */
export async function peopleOf(
  directory: Pick<UserDirectory, 'groupMembers' | 'channelMembers' | 'mayAct'>,
  principals: readonly Principal[],
): Promise<{ readonly people: readonly string[]; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  const asked = principals.map(async (one): Promise<readonly string[]> => {
    if (one.kind === 'user') return [one.id];
    const of = one.kind === 'group' ? `The group ${formatGroup(one.name)}` : `The channel <#${one.id}>`;
    try {
      const members =
        one.kind === 'group'
          ? await directory.groupMembers(one.name)
          : await directory.channelMembers(one.id);
      if (members.length === 0) problems.push(`${of} has no members.`);
      return members;
    } catch (error) {
      problems.push(messageOf(error));
      return [];
    }
  });
  const ids = [...new Set((await Promise.all(asked)).flat())];
  const may = await Promise.all(ids.map(async (id) => (await directory.mayAct(id, null)).ok));
  return { people: ids.filter((_, at) => may[at]), problems };
}
