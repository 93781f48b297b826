import type { App, ViewSubmitAction } from '@slack/bolt';
import { type SettingName, type Settings, settingNames } from '../../../actions/policy/workspace-settings.ts';
import { messageOf, type Refusal, refuse } from '../../../core/errors.ts';
import type { Finding } from '../../../core/finding.ts';
import { formatGroup, formatPrincipals } from '../../../core/principal.ts';
import type { SlackContext } from '../../context.ts';
import { examineWorkspace, peopleOf } from '../../outbound/examine-workspace.ts';
import { maySetUp } from '../../people/may-set-up.ts';
import { tellOfApprovals } from '../../people/preferences.ts';
import { paragraph, prose, words } from '../../views/blocks/build.ts';
import type { Entered } from '../../views/form.ts';
import { modal } from '../../views/modal.ts';
import {
  readSettings,
  SETTINGS_ACTIONS,
  SETTINGS_VIEW,
  type SettingsContext,
  type SettingsParts,
  savedView,
  settingLabels,
  settingsView,
} from '../../views/onboarding.ts';
import type { Pressed } from '../actions/pressed.ts';
import { show } from '../actions/show.ts';

type Handler = (context: SlackContext, pressed: Pressed) => Promise<void>;

export const settingsHandlers: Readonly<Record<string, Handler>> = {
  [SETTINGS_ACTIONS.open]: openSettings,
  [SETTINGS_ACTIONS.test]: raiseTest,
  [SETTINGS_ACTIONS.tellMe]: tellMe,
};

function openSettings(context: SlackContext, pressed: Pressed): Promise<void> {
  const make = async () => {
    const may = await maySetUp(context, pressed.userId, pressed.teamId);
    return may.ok ? drawn(context, await inForce(context, pressed.userId), null) : may.reason;
  };
  return show(context, pressed, 'Set up Sentry', make, {
    otherwise: 'No window opened. Please press it again.',
  });
}

/** What a window shows, and of which version of the settings it is. */
type Shown = Pick<SettingsParts, 'version' | 'values'>;

/** With the channels by id, as the fields want them; whoever begins is the first admin that is offered. */
async function inForce({ deps, channels }: SlackContext, userId: string): Promise<Shown> {
  // All at once: while Slack is asked, they may be changed.
  const { version, alertChannels, approvers, admins, oncallGroup, adminChannel } = deps.setUp.settings;
  const known = async (names: readonly string[]): Promise<string[]> =>
    (await Promise.all(names.map(channels.idOf))).filter((id) => !id.startsWith('#'));
  const [channel] = await known([adminChannel]);
  return {
    version,
    values: {
      alertChannels: await known(alertChannels),
      approvers: [...approvers],
      admins: admins.length > 0 ? [...admins] : [{ kind: 'user', id: userId }],
      oncallGroup,
      adminChannel: channel ?? null,
    },
  };
}

async function drawn(context: SlackContext, shown: Shown, problem: string | null) {
  const { deps, directory } = context;
  const { settings, schedules } = deps.setUp;
  const groups = await directory.groupHandles().catch((error: unknown) => {
    deps.log.warn({ error: messageOf(error) }, 'the user groups cannot be told');
    return [];
  });
  return settingsView({ settings, ...shown, groups, schedules, problem });
}

type Answer =
  | { readonly ok: true; readonly adminChannelBefore: string }
  /** Null: they may not try again in this window. */
  | { readonly ok: false; readonly no: Refusal; readonly shown: Shown | null };

/** Saves what was entered, or says why not, and what the window shows then. */
async function submitted(
  context: SlackContext,
  by: { readonly userId: string; readonly teamId: string | null },
  version: number,
  fields: Entered,
): Promise<Answer> {
  const { settings } = context.deps.setUp;
  const may = await maySetUp(context, by.userId, by.teamId);
  if (!may.ok) return { ok: false, no: may, shown: null };
  // As of the version that is saved over: of another one, nothing is saved.
  const entered = readSettings(fields, settings);
  const adminChannelBefore = settings.adminChannel;
  const answer =
    (await leavesNobody(context, entered)) ??
    (await settings.save({ by: by.userId, as: may.as, version, settings: entered }));
  if (answer.ok) return { ok: true, adminChannelBefore };
  // Only who is shown what is in force now may save over it.
  const shown =
    answer.code === 'CHANGED_MEANWHILE' ? await inForce(context, by.userId) : { version, values: entered };
  return { ok: false, no: answer, shown };
}

/** With it nobody could approve, or change it again. What is set in the environment is not asked here. */
async function leavesNobody(context: SlackContext, entered: Settings): Promise<Refusal | undefined> {
  const { settings } = context.deps.setUp;
  const asked = context.directory.asOfNow();
  for (const name of ['approvers', 'admins'] as const) {
    if (settings.isFixed(name)) continue;
    const { people, problems } = await peopleOf(asked, entered[name] ?? []);
    const [problem] = problems;
    if (problem) return refuse('UNKNOWN_PEOPLE', await context.withNames(problem));
    if (people.length === 0)
      return refuse(
        'NOBODY_LEFT',
        name === 'approvers'
          ? 'Nobody could approve a fix: choose at least one full member of this workspace (guests and bots do not count).'
          : 'Nobody would be an admin, and nobody could change this again: choose at least one full member of this workspace.',
      );
  }
  return undefined;
}

export function registerSettings(app: App, context: SlackContext): void {
  app.view<ViewSubmitAction>(SETTINGS_VIEW, async ({ ack, body, view }) => {
    // Slack waits three seconds; asking it who all of these people are may take longer.
    await ack({ response_action: 'update', view: notice('One moment: it is being checked …') });
    const by = { userId: body.user.id, teamId: body.user.team_id ?? body.team?.id ?? null };
    const { version } = JSON.parse(view.private_metadata) as SettingsContext;
    const answer = await submitted(context, by, version, view.state.values);
    const fill = (made: ReturnType<typeof settingsView>): Promise<unknown> =>
      context.client.views.update({ view_id: view.id, view: made }).catch((error: unknown) =>
        // It was closed meanwhile.
        context.deps.log.warn({ error: messageOf(error) }, 'the window of the settings could not be filled'),
      );
    if (answer.ok) {
      await announce(context, by.userId, answer.adminChannelBefore);
      await fill(savedView(await findings(context)));
      return;
    }
    const { no, shown } = answer;
    if (shown === null) return void (await fill(notice(no.reason)));
    const isStale = no.code === 'CHANGED_MEANWHILE';
    const problem = isStale ? `${no.reason} These are theirs: look, and change them again.` : no.reason;
    await fill(await drawn(context, shown, problem));
  });
}

const notice = (text: string) => modal('Set up Sentry', [prose(paragraph(words(text)))]);

/** Who decides is no secret, and a change of it is seen: also where it was told so far. */
async function announce(
  { deps, channels, withNames }: SlackContext,
  by: string,
  adminChannelBefore: string,
): Promise<void> {
  const { settings } = deps.setUp;
  const says: Readonly<Record<SettingName, string>> = {
    alertChannels: settings.alertChannels.map((id) => channelName(channels, id)).join(', '),
    approvers: formatPrincipals(settings.approvers) || 'nobody',
    admins: formatPrincipals(settings.admins) || 'nobody',
    oncallGroup: settings.oncallGroup ? formatGroup(settings.oncallGroup) : 'whoever may approve',
    adminChannel: channelName(channels, settings.adminChannel),
  };
  const lines = settingNames.map((name) => `${settingLabels[name].name}: ${says[name]}`);
  const text = await withNames([`<@${by}> has changed my settings.`, ...lines].join('\n'));
  await deps.workspace.announce(text, settings.adminChannel).catch(async (error: unknown) => {
    deps.log.warn({ error: messageOf(error) }, 'the admin channel could not be told of the settings');
    await deps.workspace
      .announce(text)
      .catch((fault: unknown) =>
        deps.log.warn({ error: messageOf(fault) }, 'nobody was told of the settings'),
      );
  });
  const [now, before] = await Promise.all([settings.adminChannel, adminChannelBefore].map(channels.idOf));
  if (before === now) return;
  await deps.workspace
    .announce(text, before)
    .catch((error: unknown) =>
      deps.log.warn(
        { error: messageOf(error) },
        'the former admin channel could not be told of the settings',
      ),
    );
}

const channelName = (channels: SlackContext['channels'], idOrName: string): string => {
  const unknown = /^[CG][A-Z0-9]{5,}$/.test(idOrName) ? 'a channel' : idOrName;
  return `#${(channels.nameOf(idOrName) ?? unknown).replace(/^#/, '')}`;
};

/** All that can be looked at from here, in the words of `doctor`. */
export async function findings(context: SlackContext): Promise<readonly Finding[]> {
  const { setUp, log } = context.deps;
  const { client, channels } = context;
  const directory = context.directory.asOfNow();
  return [
    ...(await examineWorkspace({ client, channels, directory }, setUp.settings)),
    ...(await setUp.examine().catch((error: unknown) => {
      log.warn({ error: messageOf(error) }, 'the parts beside Slack cannot be looked at');
      return [];
    })),
  ];
}

async function raiseTest(context: SlackContext, { userId, teamId, audience }: Pressed): Promise<void> {
  const may = await maySetUp(context, userId, teamId);
  if (!may.ok) return context.tell(audience, { text: may.reason });
  const raised = await context.deps.setUp.raiseTest(userId);
  await context.tell(audience, {
    text: raised.ok
      ? `${raised.incidentId} is open as a test: its thread begins in the first alert channel, and closes by itself.`
      : raised.reason,
  });
}

/** *Tell me*, *Do not tell me*: for whoever presses. */
async function tellMe(context: SlackContext, { userId, teamId, value, audience }: Pressed): Promise<void> {
  const may = await context.directory.mayAct(userId, teamId);
  if (!may.ok) return context.tell(audience, { text: may.reason });
  const told = value === 'on';
  await tellOfApprovals(context.deps.sql, userId, told);
  await context.tell(audience, {
    text: told
      ? 'I write to you when an approval waits that you may give, with a link to its card.'
      : 'I do not write to you about approvals any more.',
  });
}
