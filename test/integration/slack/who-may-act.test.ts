import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebClient } from '@slack/web-api';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { createAccess } from '../../../src/slack/people/access.ts';
import type { Identity } from '../../../src/slack/people/identity.ts';
import { createUserDirectory, type UserDirectory } from '../../../src/slack/people/user-directory.ts';
import { quiet } from '../../support/quiet.ts';

/** A Slack that answers what a test says, over HTTP to the real client. */
let answers: Record<string, object>;
let asked: string[];
let server: Server;
let client: WebClient;
let directory: UserDirectory;
const own: Identity = {
  botId: 'B1',
  userId: 'UBOT',
  teamId: 'T1',
  teamUrl: 'https://t/',
  enterpriseId: null,
};
const inOrganisation: Identity = { ...own, enterpriseId: 'E1' };

beforeAll(async () => {
  server = createServer((request, response) => {
    const method = request.url?.split('/').at(-1) ?? '';
    asked.push(method);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[method] ?? { ok: false, error: 'unknown_method' }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  client = new WebClient('xoxb-test', {
    slackApiUrl: `http://127.0.0.1:${port}/`,
    retryConfig: { retries: 0 },
  });
});
beforeEach(() => {
  answers = {};
  asked = [];
  directory = of(own);
});
afterAll(() => {
  server.close();
});

const of = (identity: Identity): UserDirectory =>
  createUserDirectory(
    client,
    () => identity,
    async (id) => id,
  );
const member = { id: 'U1', team_id: 'T1', name: 'olivia', is_bot: false };
const is = (user: object) => {
  answers['users.info'] = { ok: true, user };
};

describe('who may decide', () => {
  it('a full member of the workspace [F16]', async () => {
    is(member);
    expect(await directory.mayAct('U1', 'T1')).toMatchObject({ ok: true });
    expect(await directory.mayAct('U1', null)).toMatchObject({ ok: true });
  });

  test.each<[string, object, string]>([
    ['a guest of several channels', { is_restricted: true }, 'IS_GUEST'],
    ['a guest of one channel', { is_restricted: true, is_ultra_restricted: true }, 'IS_GUEST'],
    ['a guest of one channel, told by that alone', { is_ultra_restricted: true }, 'IS_GUEST'],
    ['somebody who was invited and has not joined', { is_invited_user: true }, 'IS_GUEST'],
    ['somebody of another company', { is_stranger: true }, 'OTHER_WORKSPACE'],
    ['a bot', { is_bot: true }, 'IS_BOT'],
    ['a workflow', { is_workflow_bot: true }, 'IS_BOT'],
    ['a connector', { is_connector_bot: true }, 'IS_BOT'],
    ['Slackbot, which Slack does not call one', { id: 'USLACKBOT' }, 'IS_BOT'],
    ['an account that was closed', { deleted: true }, 'IS_BOT'],
    ['a member of another workspace', { team_id: 'T2' }, 'OTHER_WORKSPACE'],
    ['somebody whose workspace Slack does not tell', { team_id: undefined }, 'OTHER_WORKSPACE'],
  ])('not %s [F16]', async (_, change, code) => {
    is({ ...member, ...change });
    expect(await directory.mayAct('U1', 'T1')).toMatchObject({ ok: false, code });
  });

  test.each<[string, object]>([
    ['answers without a person', { ok: true }],
    ['has no scope for it', { ok: false, error: 'missing_scope' }],
    ['knows no such method', { ok: false, error: 'unknown_method' }],
    ['takes no such token for it', { ok: false, error: 'not_allowed_token_type' }],
    ['does not know them', { ok: false, error: 'user_not_found' }],
    ['does not show them', { ok: false, error: 'user_not_visible' }],
  ])('nobody, where Slack %s, and it is said [F16]', async (_, answer) => {
    answers['users.info'] = answer;
    const may = await directory.mayAct('U1', 'T1');
    expect(may).toMatchObject({ ok: false, code: 'WHO_ARE_YOU' });
    expect(may.ok ? '' : may.reason).toContain('I could not check with Slack who you are');
  });

  it('a missing scope is named with what to do about it [F16]', async () => {
    answers['users.info'] = { ok: false, error: 'missing_scope' };
    expect(await directory.mayAct('U1', 'T1')).toMatchObject({
      reason: expect.stringMatching(/missing_scope.*scopes of manifest\.yml/),
    });
  });

  test.each<[string, object]>([
    ['a guest', { is_restricted: true }],
    ['somebody of another company, in a shared channel', { is_stranger: true }],
    ['a member of another company, as Slack may tell of one', { team_id: 'T2' }],
  ])('public channels are not open to %s [V4]', async (_, change) => {
    is({ ...member, ...change });
    answers['conversations.info'] = { ok: true, channel: { id: 'C1', is_private: false } };
    answers['conversations.members'] = { ok: true, members: ['U9'] };
    const access = createAccess({ client, log: quiet, directory, home: async () => 'C1' });
    const incident = { id: asIncidentId('INC-1'), channel: 'C1' };
    expect(await access.mayRead('U1', incident, 'CSHARED')).toBe(false);
    is(member);
    const ours = createAccess({ client, log: quiet, directory: of(own), home: async () => 'C1' });
    expect(await ours.mayRead('U1', incident, 'CSHARED')).toBe(true);
  });

  it('a guest may still look where they are [F16]', async () => {
    is({ ...member, is_restricted: true });
    expect(await directory.mayLook('U1', 'T1')).toMatchObject({ ok: true });
    is({ ...member, is_stranger: true });
    expect(await of(own).mayLook('U1', 'T1')).toMatchObject({ ok: false });
  });
});

describe('in an organisation of several workspaces', () => {
  const elsewhere = { ...member, team_id: 'T2', enterprise_user: { enterprise_id: 'E1', teams: ['T2'] } };

  it('a member whose home is another workspace of it may decide [F16]', async () => {
    is(elsewhere);
    expect(await of(inOrganisation).mayAct('U1', 'T2')).toMatchObject({ ok: true });
    expect(await of(inOrganisation).mayAct('U1', null)).toMatchObject({ ok: true });
  });

  test.each<[string, object]>([
    ['of another organisation', { enterprise_user: { enterprise_id: 'E2' } }],
    ['of none', { enterprise_user: undefined }],
    ['that is called ours and is a stranger', { is_stranger: true }],
    ['whose organisation Slack leaves out', { enterprise_user: {} }],
  ])('nobody %s [F16]', async (_, change) => {
    is({ ...elsewhere, ...change });
    for (const team of ['T2', 'T1', null])
      expect(await of(inOrganisation).mayAct('U1', team)).toMatchObject({
        ok: false,
        code: 'OTHER_WORKSPACE',
      });
  });

  it('a guest of another workspace of it decides nothing either [F16]', async () => {
    is({ ...elsewhere, is_restricted: true });
    expect(await of(inOrganisation).mayAct('U1', 'T2')).toMatchObject({ ok: false, code: 'IS_GUEST' });
  });

  it('a workspace by itself takes nobody for its organisation’s who has none either [F16]', async () => {
    is({ ...member, team_id: 'T2', enterprise_user: {} });
    expect(await directory.mayAct('U1', null)).toMatchObject({ ok: false, code: 'OTHER_WORKSPACE' });
    expect(await directory.mayAct('U1', 'T2')).toMatchObject({ ok: false, code: 'OTHER_WORKSPACE' });
  });
});

it('what was heard a minute ago counts for names, not for decisions [F6]', async () => {
  answers['usergroups.list'] = { ok: true, usergroups: [{ id: 'S1', handle: 'oncall' }] };
  answers['usergroups.users.list'] = { ok: true, users: ['U1'] };
  is(member);
  expect(await directory.groupMembers('oncall')).toEqual(['U1']);
  expect(await directory.mayAct('U1', null)).toMatchObject({ ok: true });
  answers['usergroups.users.list'] = { ok: true, users: ['U2'] };
  is({ ...member, is_restricted: true });
  const now = directory.asOfNow();
  expect(await now.groupMembers('oncall')).toEqual(['U2']);
  expect(await now.mayAct('U1', null)).toMatchObject({ code: 'IS_GUEST' });
  // Within one decision Slack is asked once.
  asked = [];
  await now.groupMembers('oncall');
  await now.mayAct('U1', null);
  expect(asked).toEqual([]);
  // A group that gave its handle away is another one's.
  answers['usergroups.list'] = { ok: true, usergroups: [{ id: 'S2', handle: 'oncall' }] };
  await directory.asOfNow().groupMembers('oncall');
  expect(asked).toEqual(['usergroups.list', 'usergroups.users.list']);
});
