import { afterEach, describe, expect, it } from 'vitest';
import type { FormInput } from '../../../playground/slack/page-api.ts';
import { CHANNELS, TEAM, USERS } from '../../../playground/slack/seed.ts';
import type { View } from '../../../playground/slack/slack-shapes.ts';
import { createApprovalPolicy } from '../../../src/actions/policy/policy.ts';
import type { WorkspaceSettings } from '../../../src/actions/policy/workspace-settings.ts';
import { createWorkspaceSettings, type Settings } from '../../../src/actions/policy/workspace-settings.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { verifyAuditLog } from '../../../src/safety/audit/audit-verify.ts';
import { openVaultKey } from '../../../src/safety/vault/vault-key.ts';
import { BOT_SCOPES } from '../../../src/slack/outbound/scopes.ts';
import { seenText } from '../../support/seen-text.ts';
import { eventually, type SceneBot, type SlackScene, slackScene } from '../../support/slack-scene.ts';
import { noSetUp } from '../../support/slack-services.ts';
import { httpConnection, whispers } from './card.ts';

let scene: SlackScene;
afterEach(() => scene.close());

interface Own {
  readonly bot: SceneBot;
  readonly settings: WorkspaceSettings;
}

const key = openVaultKey('', Buffer.alloc(32, 7));

async function botWith(fixed: Settings = {}, http = false): Promise<Own> {
  const settings = createWorkspaceSettings({
    sql: scene.sql,
    audit: createAuditLog(scene.sql),
    key,
    fixed,
    team: () => TEAM.id,
  });
  const bot = await scene.bot({
    ...(http ? { connection: httpConnection(scene) } : {}),
    setUp: {
      ...noSetUp,
      settings,
      isAdmin: (user) => {
        const directory = bot.workspace.directory;
        const policy = createApprovalPolicy({
          get approvers() {
            return settings.approvers;
          },
          get admins() {
            return settings.admins;
          },
          refresh: settings.refresh,
          directory,
        });
        return policy.isAdmin(user, directory.asOfNow());
      },
    },
  });
  if (http) await scene.control('events-url', { url: bot.eventsUrl, verify: true });
  return { bot, settings };
}

async function begin(fixed: Settings = {}): Promise<Own> {
  scene = await slackScene();
  return botWith(fixed);
}

const ask = (userId: string, text = 'settings') =>
  scene.act('command.run', { userId, channel: CHANNELS.alerts, text: `/sentry ${text}` });

const heard = (userId: string, says: RegExp): Promise<void> =>
  eventually(async () => expect((await whispers(scene, userId)).join('\n')).toMatch(says));

interface Whispered {
  readonly userId: string;
  readonly message: {
    readonly channel: string;
    readonly ts: string;
    readonly blocks?: readonly { readonly block_id?: string }[];
  };
}

async function answersTo(userId: string): Promise<readonly Whispered['message'][]> {
  const { snapshot } = (await scene.control('snapshot', {})) as {
    readonly snapshot: { readonly ephemerals: readonly Whispered[] };
  };
  return snapshot.ephemerals.filter((each) => each.userId === userId).map(({ message }) => message);
}

/** Presses a button of the newest private answer, as its reader or as somebody else. */
async function pressOf(reader: string, action: string, userId = reader) {
  const message = await eventually(async () => {
    const found = (await answersTo(reader)).findLast(({ blocks }) =>
      JSON.stringify(blocks).includes(`"${action}"`),
    );
    expect(found).toBeDefined();
    return found!;
  });
  const block = message.blocks?.find((each) => JSON.stringify(each).includes(`"${action}"`))?.block_id ?? '';
  return scene.act('block.action', {
    userId,
    container: { type: 'message', channel: message.channel, ts: message.ts },
    block_id: block,
    action_id: action,
    input: { kind: 'press' },
  });
}

const textOf = (view: View): string => `${seenText({ blocks: view.blocks as never })}`;

/** A window dies with its trigger after three seconds, of which a loaded machine takes more: pressed until it stands. */
async function openWindow(userId: string): Promise<View> {
  await ask(userId);
  return eventually(async () => {
    expect(await pressOf(userId, 'sentry_settings')).toMatchObject({ ok: true });
    return eventually(async () => {
      const view = (await scene.views(userId)).at(-1);
      expect(view?.callback_id).toBe('sentry_settings_view');
      return view!;
    }, 4_000);
  });
}

/** A choice that was cleared. */
const NO_GROUP = { kind: 'text', value: '' } as const;

const entered = (changes: Partial<Record<string, FormInput[string][string]>> = {}): FormInput => {
  const given: Record<string, FormInput[string][string]> = {
    alert_channels: { kind: 'ids', values: [CHANNELS.alerts] },
    approvers: { kind: 'ids', values: [] },
    approver_group: { kind: 'option', value: 'oncall' },
    oncall_group: { kind: 'option', value: 'oncall' },
    admins: { kind: 'ids', values: [USERS.admin] },
    admin_channel: { kind: 'id', value: CHANNELS.admin },
    ...(changes as Record<string, FormInput[string][string]>),
  };
  return Object.fromEntries(Object.entries(given).map(([id, input]) => [id, { [id]: input }]));
};

async function submit(userId: string, view: View, form = entered()): Promise<void> {
  const blocks = JSON.stringify(view.blocks);
  const shown = Object.fromEntries(
    Object.entries(form).filter(([id]) => blocks.includes(`"block_id":"${id}"`)),
  );
  expect(await scene.act('view.submit', { userId, viewId: view.id, form: shown })).toMatchObject({
    ok: true,
  });
}

const windowSays = (userId: string, says: RegExp): Promise<View> =>
  eventually(async () => {
    const view = (await scene.views(userId)).at(-1);
    expect(view && textOf(view)).toMatch(says);
    return view!;
  });

const onRecord = async () =>
  scene.sql<{ readonly version: number; readonly settings: Settings; readonly set_by: string }>`
    SELECT version, settings, set_by FROM workspace_settings WHERE team_id = ${TEAM.id}`;

describe('setting a workspace up', { timeout: 120_000 }, () => {
  it('lets a workspace admin say who decides; it counts at once, is told in the admin channel, and is in the audit log', async () => {
    const { settings } = await begin();
    const view = await openWindow(USERS.admin);
    await submit(USERS.admin, view);
    await windowSays(USERS.admin, /Saved/);
    expect(await onRecord()).toEqual([
      {
        version: 1,
        set_by: USERS.admin,
        settings: {
          alertChannels: [CHANNELS.alerts],
          approvers: [{ kind: 'group', name: 'oncall' }],
          admins: [{ kind: 'user', id: USERS.admin }],
          oncallGroup: 'oncall',
          adminChannel: CHANNELS.admin,
        },
      },
    ]);
    expect(settings.approvers).toEqual([{ kind: 'group', name: 'oncall' }]);
    const entries = await scene.sql<{ readonly body: string }>`
      SELECT body FROM audit_entry WHERE body LIKE '%"settings.set"%'`;
    expect(entries).toHaveLength(1);
    expect(JSON.parse(entries[0]!.body)).toMatchObject({
      actor: USERS.admin,
      details: { as: 'workspace admin', before: null, version: 1 },
    });
    expect(await verifyAuditLog(scene.sql, { key: null, witnessed: [] })).toMatchObject({ ok: true });
    await eventually(async () => {
      const { messages } = (await scene.control('messages', { channel: CHANNELS.admin })) as {
        readonly messages: unknown;
      };
      expect(JSON.stringify(messages)).toMatch(/amara has changed my settings/);
    });
  });

  it('opens for no stranger while nobody is named', async () => {
    await begin();
    await ask(USERS.stranger);
    await heard(USERS.stranger, /only an owner or admin of this Slack workspace/);
    expect(JSON.stringify(await answersTo(USERS.stranger))).not.toContain('"sentry_settings"');
    // A button of somebody else's answer, pressed all the same.
    await ask(USERS.admin);
    await pressOf(USERS.admin, 'sentry_settings', USERS.stranger);
    expect(await onRecord()).toEqual([]);
    expect((await scene.views(USERS.stranger)).map(({ callback_id }) => callback_id)).not.toContain(
      'sentry_settings_view',
    );
  });

  it('is for owners and admins of this very workspace, as Slack says at that moment', async () => {
    const { bot } = await begin();
    const runs = async (flags: object, team: string | null = null) => {
      await scene.control('user', { id: USERS.stranger, is_admin: true, ...flags });
      const may = await bot.workspace.directory.runsWorkspace(USERS.stranger, team);
      return may.ok ? 'yes' : may.code;
    };
    expect(await runs({})).toBe('yes');
    expect(await runs({ is_admin: false, is_owner: true })).toBe('yes');
    expect(await runs({ is_owner: false, is_admin: false })).toBe('NOT_WORKSPACE_ADMIN');
    expect(await runs({}, 'T0OTHER')).toBe('OTHER_WORKSPACE');
    expect(await runs({ is_restricted: true })).toBe('IS_GUEST');
    expect(await runs({ is_restricted: false, is_ultra_restricted: true })).toBe('IS_GUEST');
    expect(await runs({ is_ultra_restricted: false, team_id: 'T0OTHER' })).toBe('OTHER_WORKSPACE');
    expect(await runs({ team_id: TEAM.id, is_stranger: true })).toBe('OTHER_WORKSPACE');
    expect(await runs({ is_stranger: false, is_bot: true })).toBe('IS_BOT');
    expect(await runs({ is_bot: false, deleted: true })).toBe('IS_BOT');
    await scene.control('user', { id: USERS.stranger, deleted: false });
    await scene.control('fail', { kind: 'error', method: 'users.info', error: 'user_not_found' });
    expect(await runs({})).toBe('WHO_ARE_YOU');
  });

  it('asks again at the submit: whoever was demoted since the window opened saves nothing', async () => {
    await begin();
    const view = await openWindow(USERS.admin);
    await scene.control('user', { id: USERS.admin, is_admin: false, is_owner: false });
    await submit(USERS.admin, view);
    await windowSays(USERS.admin, /only an owner or admin/);
    expect(await onRecord()).toEqual([]);
  });

  it('belongs to the admins once there are some: no owner of the workspace, and no admin who was taken off', async () => {
    await begin();
    const first = await openWindow(USERS.admin);
    await submit(USERS.admin, first, entered({ admins: { kind: 'ids', values: [USERS.onCall] } }));
    await windowSays(USERS.admin, /Saved/);
    // Amara owns the workspace, and is no admin of Sentry's any more. Her old answer still has its button.
    expect(await pressOf(USERS.admin, 'sentry_settings')).toMatchObject({ ok: true });
    await windowSays(USERS.admin, /Only admins change the settings/);
    const theirs = await openWindow(USERS.onCall);
    await submit(USERS.onCall, theirs, entered({ admins: { kind: 'ids', values: [USERS.onCall2] } }));
    await windowSays(USERS.onCall, /Saved/);
    expect((await onRecord())[0]).toMatchObject({ version: 2, set_by: USERS.onCall });
  });

  it('saves one of two windows that were open at once; the other shows what was saved, and is not a vote', async () => {
    await begin();
    await scene.control('user', { id: USERS.onCall, is_admin: true });
    const [hers, theirs] = [await openWindow(USERS.admin), await openWindow(USERS.onCall)];
    await submit(
      USERS.admin,
      hers,
      entered({ admins: { kind: 'ids', values: [USERS.admin, USERS.onCall] } }),
    );
    await windowSays(USERS.admin, /Saved/);
    await submit(USERS.onCall, theirs, entered({ admins: { kind: 'ids', values: [USERS.onCall] } }));
    await windowSays(USERS.onCall, /Nothing is saved\. Somebody has changed the settings/);
    expect(await onRecord()).toMatchObject([{ version: 1, set_by: USERS.admin }]);
  });

  it('takes a submission that is sent again as the one it was', async () => {
    const { settings } = await begin();
    const saved = {
      by: USERS.admin,
      as: 'workspace admin',
      version: 0,
      settings: { admins: [{ kind: 'user', id: USERS.admin }] } satisfies Settings,
    } as const;
    expect(await settings.save(saved)).toEqual({ ok: true });
    expect(await settings.save(saved)).toEqual({ ok: true });
    expect(await settings.save({ ...saved, by: USERS.stranger })).toMatchObject({
      code: 'CHANGED_MEANWHILE',
    });
    expect(
      await settings.save({ ...saved, settings: { admins: [{ kind: 'user', id: USERS.stranger }] } }),
    ).toMatchObject({ code: 'CHANGED_MEANWHILE' });
    expect(await onRecord()).toMatchObject([{ version: 1, set_by: USERS.admin }]);
    expect(await scene.sql`SELECT FROM audit_entry WHERE body LIKE '%"settings.set"%'`).toHaveLength(1);
  });

  it.each([
    [
      'nobody as an approver',
      { approver_group: { kind: 'option', value: 'oncall' } },
      [],
      /The group @oncall has no members|Nobody could approve|has no members/,
    ],
    [
      'nobody as an admin',
      { admins: { kind: 'ids', values: [] } },
      [USERS.onCall],
      /Nobody would be an admin/,
    ],
    [
      'only a bot as an admin',
      { admins: { kind: 'ids', values: ['U0SENTRY'] } },
      [USERS.onCall],
      /Nobody would be an admin/,
    ],
  ] as const)('refuses %s, with what was entered still in the window', async (_, changes, group, says) => {
    await begin();
    await scene.control('user-group', { id: 'S0ONCALL', users: group });
    const view = await openWindow(USERS.admin);
    await submit(USERS.admin, view, entered(changes as never));
    const again = await windowSays(USERS.admin, says);
    expect(again.callback_id).toBe('sentry_settings_view');
    expect(JSON.stringify(again.blocks)).toContain(`"initial_conversations":["${CHANNELS.alerts}"]`);
    expect(await onRecord()).toEqual([]);
  });

  it('shows what the environment sets, and lets nothing of it be changed, whatever comes with the window', async () => {
    const approvers = [{ kind: 'user' as const, id: USERS.onCall }];
    const { settings } = await begin({ approvers });
    const view = await openWindow(USERS.admin);
    expect(textOf(view)).toMatch(/Approvers.*set in the environment \(SENTRY_APPROVERS\)/s);
    expect(JSON.stringify(view.blocks)).not.toContain('"block_id":"approvers"');
    expect(
      await settings.save({
        by: USERS.admin,
        as: 'workspace admin',
        version: 0,
        settings: {
          admins: [{ kind: 'user', id: USERS.admin }],
          approvers: [{ kind: 'user', id: USERS.stranger }],
        },
      }),
    ).toEqual({ ok: true });
    expect(settings.approvers).toEqual(approvers);
    expect((await onRecord())[0]?.settings).not.toHaveProperty('approvers');
  });

  it('says of each usual mistake what it is and what to do', async () => {
    await begin({
      alertChannels: ['alrets', CHANNELS.general],
      approvers: [{ kind: 'group', name: 'nobody-here' }],
      adminChannel: 'sentry-admin',
    });
    await scene.control('scopes', {
      scopes: Object.keys(BOT_SCOPES).filter(
        (scope) => !['usergroups:read', 'channels:join'].includes(scope),
      ),
    });
    await ask(USERS.admin);
    await heard(
      USERS.admin,
      /Slack app.*lacks.*usergroups:read \(no user group can approve.*press Reinstall/s,
    );
    await heard(USERS.admin, /Alert channel #alrets.*Slack knows no such channel/s);
    await heard(USERS.admin, /Alert channel #general.*I am not in it.*\/invite @Sentry/s);
    await heard(USERS.admin, /Approvers.*@nobody-here: no such group/s);
    await heard(USERS.admin, /Admins.*nobody is an admin/s);
  });

  it('counts for the workspace it was made in alone', async () => {
    const { settings } = await begin();
    await scene.sql`
      INSERT INTO workspace_settings (team_id, version, settings, set_by, signature)
      VALUES ('T0OTHER', 4, ${scene.sql.json({ admins: [{ kind: 'user', id: USERS.stranger }] })}, ${USERS.stranger}, '')`;
    await settings.refresh();
    expect(settings).toMatchObject({ admins: [], version: 0, isOfAnother: true });
    await ask(USERS.stranger);
    await heard(USERS.stranger, /only an owner or admin of this Slack workspace/);
    await ask(USERS.admin);
    await heard(USERS.admin, /what was set up is of another workspace/);
  });

  it('written into the table by hand name nobody', async () => {
    const { settings } = await begin();
    const view = await openWindow(USERS.admin);
    await submit(USERS.admin, view);
    await windowSays(USERS.admin, /Saved/);
    await scene.sql`
      UPDATE workspace_settings
         SET settings = ${scene.sql.json({ approvers: [{ kind: 'user', id: USERS.stranger }] })}`;
    await settings.refresh();
    expect(settings).toMatchObject({ approvers: [], admins: [], isForged: true });
    await ask(USERS.admin);
    await heard(USERS.admin, /not signed by this Sentry/);
  });

  it('saves over no change that a window did not show, also where it was refused for something else before', async () => {
    await begin();
    const both = { admins: { kind: 'ids', values: [USERS.admin, USERS.onCall] } } as const;
    await submit(USERS.admin, await openWindow(USERS.admin), entered(both));
    await windowSays(USERS.admin, /Saved/);
    const [hers, theirs] = [await openWindow(USERS.admin), await openWindow(USERS.onCall)];
    const onlyNoah = {
      approvers: { kind: 'ids', values: [USERS.onCall2] },
      approver_group: NO_GROUP,
    } as const;
    await submit(USERS.admin, hers, entered({ ...both, ...onlyNoah }));
    await windowSays(USERS.admin, /Saved/);
    await submit(USERS.onCall, theirs, entered({ admins: { kind: 'ids', values: [] } }));
    const again = await windowSays(USERS.onCall, /Nobody would be an admin/);
    await submit(USERS.onCall, again, entered(both));
    const shown = await windowSays(USERS.onCall, /Somebody has changed the settings|Saved/);
    expect(textOf(shown)).toMatch(/Somebody has changed the settings/);
    expect(JSON.stringify(shown.blocks)).toContain(`"initial_users":["${USERS.onCall2}"]`);
    expect(await onRecord()).toMatchObject([
      { version: 2, set_by: USERS.admin, settings: { approvers: [{ kind: 'user', id: USERS.onCall2 }] } },
    ]);
    // Now they have seen what is in force.
    await submit(USERS.onCall, shown, entered(both));
    await windowSays(USERS.onCall, /Saved/);
    expect(await onRecord()).toMatchObject([{ version: 3, set_by: USERS.onCall }]);
  });

  it('keeps the groups that are in force where Slack could not list them, until a person takes them off', async () => {
    await begin();
    const olivia = { approvers: { kind: 'ids', values: [USERS.onCall] } } as const;
    await submit(USERS.admin, await openWindow(USERS.admin), entered(olivia));
    await windowSays(USERS.admin, /Saved/);
    const unlisted = async (): Promise<View> => {
      await scene.control('fail', {
        kind: 'error',
        method: 'usergroups.list',
        error: 'fatal_error',
        times: 1_000,
      });
      const view = await openWindow(USERS.admin);
      await scene.control('reset', {});
      return view;
    };
    const { approver_group: _, oncall_group: __, ...untouched } = entered(olivia);
    await submit(USERS.admin, await unlisted(), untouched);
    await windowSays(USERS.admin, /Saved/);
    expect(await onRecord()).toMatchObject([
      {
        version: 2,
        settings: {
          approvers: [
            { kind: 'user', id: USERS.onCall },
            { kind: 'group', name: 'oncall' },
          ],
          oncallGroup: 'oncall',
        },
      },
    ]);
    const without = entered({ ...olivia, approver_group: NO_GROUP, oncall_group: NO_GROUP });
    await submit(USERS.admin, await unlisted(), without);
    await windowSays(USERS.admin, /Saved/);
    const [saved] = await onRecord();
    expect(saved).toMatchObject({
      version: 3,
      settings: { approvers: [{ kind: 'user', id: USERS.onCall }] },
    });
    expect(saved?.settings).not.toHaveProperty('oncallGroup');
  });

  it('tells a change of the admin channel in both, and any other change once', async () => {
    await begin();
    const told = async (channel: string): Promise<number> => {
      const answer = await scene.control('messages', { channel });
      return JSON.stringify(answer).match(/"text":"[^"]*has changed my settings/g)?.length ?? 0;
    };
    await submit(USERS.admin, await openWindow(USERS.admin));
    await windowSays(USERS.admin, /Saved/);
    const once = await told(CHANNELS.admin);
    expect(once).toBeGreaterThan(0);
    await submit(USERS.admin, await openWindow(USERS.admin));
    await eventually(async () => expect(await onRecord()).toMatchObject([{ version: 2 }]));
    await windowSays(USERS.admin, /Saved/);
    expect(await told(CHANNELS.admin)).toBe(2 * once);
    expect(await told(CHANNELS.alerts)).toBe(0);
    const moved = { admin_channel: { kind: 'id', value: CHANNELS.alerts } } as const;
    await submit(USERS.admin, await openWindow(USERS.admin), entered(moved));
    await eventually(async () => expect(await onRecord()).toMatchObject([{ version: 3 }]));
    await windowSays(USERS.admin, /Saved/);
    expect(await told(CHANNELS.alerts)).toBe(once);
    expect(await told(CHANNELS.admin)).toBe(3 * once);
  });

  it('keeps the newest that was read, whichever answer of the database comes last', async () => {
    const { settings } = await begin();
    const approvedBy = async (id: string) =>
      expect(
        await settings.save({
          by: USERS.admin,
          as: 'admin',
          version: settings.version,
          settings: { approvers: [{ kind: 'user', id }] },
        }),
      ).toEqual({ ok: true });
    await approvedBy(USERS.onCall);
    let letThrough = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    let hasRead = (): void => undefined;
    const read = new Promise<void>((resolve) => {
      hasRead = resolve;
    });
    let asked = 0;
    // The first answer is on its way until it is let through.
    const sql = new Proxy(scene.sql, {
      apply: (target, self, given) => {
        const rows = Reflect.apply(target as never, self, given) as Promise<unknown>;
        asked += 1;
        if (asked > 1) return rows;
        return Promise.resolve(rows).then(async (found) => {
          hasRead();
          await held;
          return found;
        });
      },
    });
    const slow = createWorkspaceSettings({
      sql,
      audit: createAuditLog(scene.sql),
      key,
      fixed: {},
      team: () => TEAM.id,
    });
    const first = slow.refresh();
    await read;
    await approvedBy(USERS.onCall2);
    const second = slow.refresh();
    // Where it is asked beside the first, it is answered before it.
    if (asked > 1) await second;
    letThrough();
    await Promise.all([first, second]);
    expect(slow).toMatchObject({ version: 2, approvers: [{ kind: 'user', id: USERS.onCall2 }] });
  });

  it('reads again after a reading that failed', async () => {
    const { settings } = await begin();
    let isDown = true;
    const sql = new Proxy(scene.sql, {
      apply: (target, self, given) =>
        isDown ? Promise.reject(new Error('down')) : Reflect.apply(target as never, self, given),
    });
    const own = createWorkspaceSettings({
      sql,
      audit: createAuditLog(scene.sql),
      key,
      fixed: {},
      team: () => TEAM.id,
    });
    const admins = [{ kind: 'user' as const, id: USERS.admin }];
    await settings.save({ by: USERS.admin, as: 'workspace admin', version: 0, settings: { admins } });
    await expect(Promise.all([own.refresh(), own.refresh()])).rejects.toThrow('down');
    isDown = false;
    await own.refresh();
    expect(own.admins).toEqual(admins);
  });

  it('welcomes whoever may set it up, once, and nobody else', async () => {
    await begin();
    for (const userId of [USERS.stranger, USERS.admin, USERS.admin])
      expect(await scene.act('home.open', { userId, tab: 'home' })).toMatchObject({ ok: true });
    await eventually(async () => {
      const { messages } = (await scene.control('messages', {})) as {
        readonly messages: readonly { readonly text: string }[];
      };
      expect(messages.filter(({ text }) => text.startsWith('Welcome'))).toHaveLength(1);
    });
    const { snapshot } = (await scene.control('snapshot', {})) as {
      readonly snapshot: { readonly homes: Readonly<Record<string, unknown>> };
    };
    expect(JSON.stringify(snapshot.homes[USERS.admin])).toContain('sentry_settings');
    expect(JSON.stringify(snapshot.homes[USERS.stranger])).not.toContain('sentry_settings');
  });

  it('works over HTTP as over Socket Mode', async () => {
    scene = await slackScene();
    await botWith({}, true);
    const view = await openWindow(USERS.admin);
    await submit(USERS.admin, view);
    await windowSays(USERS.admin, /Saved/);
    expect(await onRecord()).toMatchObject([{ version: 1 }]);
  });
});
