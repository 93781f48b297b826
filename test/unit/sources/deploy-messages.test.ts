import { describe, expect, test } from 'vitest';
import type { Change } from '../../../src/core/change.ts';
import type { ReadContext } from '../../../src/sources/ports.ts';
import { slackMessage } from '../../../src/sources/slack-message/index.ts';

const at = (ts: string): string => new Date(Number(ts) * 1000).toISOString();
const TS = '1772366280.000100';

function read(content: object, context: Partial<ReadContext> = {}) {
  const answer = slackMessage.read(
    { type: 'message', channel: 'C0DEPLOYS', bot_id: 'B0CI', ts: TS, ...content },
    { receivedAt: new Date(0), ...context },
  );
  if (!answer.ok) throw new Error(`${answer.field}: ${answer.reason}`);
  return answer;
}
const changeIn = (content: object): Change | null => read(content).changes?.[0] ?? null;

const sha = '279484c09f2b4c1d8e7a6b5c4d3e2f1a0b9c8d7e';
const job = 'https://gitlab.example.com/acme/shop/-/jobs/796';

test('a time that a message tells is believed about when it was posted, and no further', () => {
  const synced = (time: string) =>
    changeIn({ text: `Application shop-api has been successfully synced at ${time}.` })?.at;
  expect(synced('2026-03-01T11:49:00Z')).toBe('2026-03-01T11:49:00.000Z');
  expect(synced('2026-03-01T11:40:00Z')).toBe(at(TS));
  expect(synced('2026-03-01T13:00:00Z')).toBe(at(TS));
});

describe('what a deploy bot says in its own shape', () => {
  test.each<[string, object, Partial<Change>]>([
    [
      'Argo CD, synced (its catalogue of notifications)',
      {
        text: ':white_check_mark: Application shop-api has been successfully synced at 2026-03-01T11:58:00Z.\nSync operation details are available at: https://argo.example.com/applications/shop-api?operation=true .',
        attachments: [
          {
            title: 'shop-api',
            title_link: 'https://argo.example.com/applications/shop-api',
            color: '#18be52',
          },
        ],
      },
      {
        state: 'succeeded',
        title: 'shop-api deployed',
        where: ['shop-api'],
        at: '2026-03-01T11:58:00.000Z',
        url: 'https://argo.example.com/applications/shop-api',
      },
    ],
    [
      'Argo CD, under way',
      { text: 'The sync operation of application shop-api has started at 2026-03-01T11:57:00Z.' },
      { state: 'started', title: 'shop-api is being deployed', startedAt: '2026-03-01T11:57:00.000Z' },
    ],
    [
      'Argo CD, failed',
      {
        text: ':exclamation:  The sync operation of application shop-api has failed at 2026-03-01T11:58:00Z with the following error: x',
      },
      { state: 'failed', title: 'shop-api failed to deploy' },
    ],
    [
      'Argo CD, a new version',
      {
        text: ':white_check_mark: Application shop-api is now running new version of deployments manifests.',
        attachments: [{ title: 'shop-api', fields: [{ title: 'Revision', value: sha }] }],
      },
      { state: 'succeeded', title: 'shop-api 279484c deployed', to: sha },
    ],
    [
      'Argo Rollouts',
      { text: 'Rollout shop-api has been completed.' },
      { state: 'succeeded', where: ['shop-api'] },
    ],
    [
      'Flux, a Kustomization (notification-controller, slack.go)',
      {
        text: '',
        attachments: [
          {
            color: 'good',
            author_name: 'kustomization/shop-api.flux-system',
            text: 'Applied revision: main@sha1:279484c0',
            fields: [{ title: 'revision', value: 'main@sha1:279484c0', short: false }],
          },
        ],
      },
      { state: 'succeeded', where: ['shop-api'], to: 'main@sha1:279484c0', by: 'Flux' },
    ],
    [
      'Flux, a release that failed',
      {
        attachments: [
          {
            color: 'danger',
            author_name: 'helmrelease/shop-api.shop',
            text: 'Helm upgrade failed for release shop/shop-api with chart shop@1.4.2: timed out',
            fields: [{ title: 'revision', value: '1.4.2' }],
          },
        ],
      },
      { state: 'failed', title: 'shop-api 1.4.2 failed to deploy' },
    ],
    [
      'GitLab, succeeded (deployment_message.rb)',
      {
        text: 'Deploy to production succeeded',
        attachments: [
          {
            color: 'good',
            text: `<https://gitlab.example.com/acme/shop|acme/shop> with job <${job}|#796> by <https://gitlab.example.com/olivia|Olivia (olivia)>\n<https://gitlab.example.com/c|279484c0>: Pay by card`,
          },
        ],
      },
      {
        id: 'gitlab B0CI acme/shop 796',
        state: 'succeeded',
        title: 'shop 279484c0 deployed in production',
        where: ['shop', 'acme/shop'],
        environment: 'production',
        by: 'olivia',
        to: '279484c0',
        commits: [{ sha: '279484c0', title: 'Pay by card', by: null, files: [] }],
        url: job,
      },
    ],
    [
      'GitLab, under way',
      {
        text: 'Starting deploy to production',
        attachments: [
          {
            text: `<https://g.example.com/acme/shop|acme/shop> with job <${job}|#796> by <https://g.example.com/olivia|Olivia (olivia)>\n<https://g.example.com/c|279484c0>: Pay by card`,
          },
        ],
      },
      { id: 'gitlab B0CI acme/shop 796', state: 'started' },
    ],
    [
      'GitLab before 13.12',
      {
        text: 'Deploy to production failed',
        attachments: [
          {
            text: `<https://g.example.com/acme/shop|acme/shop>\n<${job}|Job #796>, SHA <https://g.example.com/c|279484c0>, by Olivia (olivia)`,
          },
        ],
      },
      { id: 'gitlab B0CI acme/shop 796', state: 'failed', by: 'olivia', to: '279484c0' },
    ],
    [
      'GitHub (integrations/slack, deployment-status.js)',
      {
        attachments: [
          {
            author_name: 'olivia',
            fallback: '[acme/shop] Successfully deployed 279484c to production',
            text: 'Successfully deployed <https://github.com/acme/shop/commit/279484c|`279484c`> to <https://github.com/acme/shop/actions/runs/9|production>',
            footer: '<https://github.com/acme/shop|acme/shop>',
            color: '#24292f',
          },
        ],
      },
      {
        state: 'succeeded',
        title: 'shop 279484c deployed in production',
        where: ['shop', 'acme/shop'],
        environment: 'production',
        by: 'olivia',
        to: '279484c',
        url: 'https://github.com/acme/shop/actions/runs/9',
      },
    ],
    [
      'GitHub, failed',
      {
        attachments: [
          {
            text: 'Deploying <https://github.com/c|`279484c`> to production failed',
            footer: '<https://github.com/acme/shop|acme/shop>',
          },
        ],
      },
      { state: 'failed' },
    ],
    [
      'Jenkins, begun (ActiveNotifier.java)',
      {
        attachments: [
          {
            text: 'deploy-shop - #18 Started by user olivia (<https://jenkins.example.com/job/deploy-shop/18/|Open>)',
          },
        ],
      },
      {
        id: 'jenkins B0CI deploy-shop 18',
        state: 'started',
        by: 'olivia',
        url: 'https://jenkins.example.com/job/deploy-shop/18/',
      },
    ],
    [
      'Jenkins, done',
      {
        attachments: [
          {
            text: 'shop » deploy-shop - #18 Success after 1 min 30 sec (<https://jenkins.example.com/18/|Open>)',
          },
        ],
      },
      { state: 'succeeded', where: ['deploy-shop', 'shop » deploy-shop'] },
    ],
    [
      'CircleCI (slack-orb, success_tagged_deploy_1.json)',
      {
        text: 'CircleCI job succeeded!',
        blocks: [
          {
            type: 'header',
            text: { type: 'plain_text', text: 'Deployment Successful! :tada:', emoji: true },
          },
          {
            type: 'section',
            fields: [
              { type: 'mrkdwn', text: '*Project*: shop-api' },
              { type: 'mrkdwn', text: '*When*: 03/01/2026 11:58:00' },
              { type: 'mrkdwn', text: '*Tag*: v1.4.2' },
            ],
          },
          {
            type: 'actions',
            elements: [
              {
                type: 'button',
                text: { type: 'plain_text', text: 'View Job' },
                url: 'https://circleci.com/gh/acme/shop/42',
              },
            ],
          },
        ],
      },
      { state: 'succeeded', title: 'shop-api v1.4.2 deployed', url: 'https://circleci.com/gh/acme/shop/42' },
    ],
    [
      'Spinnaker (SlackNotificationAgent.groovy)',
      {
        attachments: [
          {
            title: 'Pipeline complete for SHOP',
            text: "Shop's <https://spin.example.com/#/applications/shop/executions/01HX|Deploy to prod> build <https://j/18|18>  pipeline has completed successfully",
          },
        ],
      },
      { id: 'spinnaker B0CI 01HX', state: 'succeeded', where: ['Shop'] },
    ],
  ])('%s', (_who, content, change) => {
    expect(changeIn(content)).toMatchObject({ source: 'slack', ...change });
  });
});

describe('what any app says of a deployment', () => {
  test.each<[string, Partial<Change>]>([
    [
      'olivia deployed shop-api 1.4.2 to production',
      {
        title: 'shop-api 1.4.2 deployed in production',
        by: 'olivia',
        to: '1.4.2',
        environment: 'production',
      },
    ],
    [
      ':rocket: *olivia* deployed `shop-api` (v1.4.2) to *production*!',
      { by: 'olivia', to: 'v1.4.2', where: ['shop-api'] },
    ],
    ['shop-api 1.4.2 deployed to production by olivia', { by: 'olivia', to: '1.4.2', state: 'succeeded' }],
    ['shop-api was deployed', { title: 'shop-api deployed', environment: null, to: null, by: null }],
    ['shop-api is being deployed to staging', { state: 'started', environment: 'staging' }],
    ['Deploying shop-api:1.4.2 to production…', { state: 'started', to: '1.4.2' }],
    ['Successfully deployed shop-api to production in 2m 10s', { state: 'succeeded' }],
    ['Failed to deploy shop-api 1.4.2 to production', { state: 'failed' }],
    ['Deployment of shop-api 1.4.2 to production succeeded', { state: 'succeeded', to: '1.4.2' }],
    ['Deployment of shop-api failed', { state: 'failed' }],
    ['Production deployment of shop-web is ready', { state: 'succeeded', environment: 'production' }],
    ['Deploy started: shop-api 1.4.2 to production', { state: 'started', to: '1.4.2', startedAt: at(TS) }],
    [
      'Started deploying acme/shop@279484c to production',
      { state: 'started', where: ['shop', 'acme/shop'], to: '279484c' },
    ],
    ['Version 1.4.2 of shop-api was released', { to: '1.4.2', where: ['shop-api'] }],
    [
      'noah rolled back shop-api to 1.4.1 in production',
      { kind: 'rollback', to: '1.4.1', title: 'shop-api rolled back to 1.4.1 in production', by: 'noah' },
    ],
    ['Rollback of shop-api to 1.4.1 completed', { kind: 'rollback', state: 'succeeded', to: '1.4.1' }],
    ['shop-api upgraded from 1.4.1 to 1.4.2', { from: '1.4.1', to: '1.4.2' }],
    ['Deployed shop-api 1.4.1 → 1.4.2 to prod', { from: '1.4.1', to: '1.4.2', environment: 'prod' }],
    ['deploy-bot deployed shop-api', { by: null }],
    ['<@U0OLIVIA> deployed shop-api to production', { by: '<@U0OLIVIA>' }],
  ])('%s', (text, change) => {
    expect(changeIn({ text })).toMatchObject({ source: 'slack', ...change });
  });

  test('stands in its fields, too', () => {
    const blocks = [
      { type: 'header', text: { type: 'plain_text', text: '🚀 Deployment started' } },
      {
        type: 'section',
        fields: [
          { type: 'mrkdwn', text: '*Service:*\nshop-api' },
          { type: 'mrkdwn', text: '*Environment:*\nproduction' },
          { type: 'mrkdwn', text: '*Image:*\nregistry.example.com/shop-api:1.4.2' },
          { type: 'mrkdwn', text: '*Deployed by:*\nolivia' },
        ],
      },
    ];
    expect(changeIn({ text: 'x', blocks })).toMatchObject({
      title: 'shop-api 1.4.2 is being deployed in production',
      state: 'started',
      environment: 'production',
      to: '1.4.2',
      by: 'olivia',
    });
  });

  test.each([
    ['will be deployed', 'shop-api 1.4.2 will be deployed to production'],
    ['waits', 'Deployment of shop-api to production is waiting for approval'],
    ['was not', 'shop-api was not deployed to production'],
    ['was cancelled', 'Deploy to production cancelled'],
    ['is a question', 'Who deployed shop-api to production?'],
    ['is a preview', 'Preview deployment of shop-web is ready'],
    ['was long ago', 'shop-api was deployed to production 3 hours ago'],
    ['goes on to tell something else', 'olivia deployed shop-api to production and the error rate went up'],
    ['is of nothing', 'Deployed to production'],
    ['is of a version of nothing', 'Deployed 1.4.2 to production'],
    ['is about code', 'olivia merged 3 commits into main'],
    ['is a push', '[acme/shop] 3 new commits pushed to main by olivia'],
    ['is a build', 'Build #18 of shop-api succeeded'],
    ['is an alert of a Deployment', 'Deployment shop-api has 0 of 3 replicas available'],
    ['is an alert', '[FIRING:1] KubeDeploymentReplicasMismatch (shop-api critical)'],
    ['is of Jenkins, and deploys nothing', 'unit-tests - #18 Success after 3 sec (Open)'],
    [
      'is a stage of a pipeline',
      "Stage Bake for Shop's <https://s/1|Deploy to prod> pipeline has completed successfully",
    ],
  ])('what %s is none', (_what, text) => {
    expect(changeIn({ text })).toBeNull();
  });

  test('is none from a person, in a thread or of our own', () => {
    const text = 'olivia deployed shop-api 1.4.2 to production';
    expect(changeIn({ text, bot_id: undefined, user: 'U0OLIVIA' })).toBeNull();
    expect(changeIn({ text, thread_ts: '1772366000.000100' })).toBeNull();
    expect(read({ text }, { own: { botId: 'B0CI', userId: null } }).changes).toEqual([]);
  });
});

test('opens nothing, unless it tells of trouble or its channel says that every message is an alert', () => {
  const text = 'olivia deployed shop-api 1.4.2 to production';
  expect(read({ text })).toMatchObject({ alerts: [], changes: [{ to: '1.4.2' }] });
  expect(read({ text }, { everyMessage: true })).toMatchObject({ alerts: [{}], changes: [{ to: '1.4.2' }] });
  expect(read({ text: 'Deployment of shop-api failed' })).toMatchObject({
    alerts: [{ status: 'firing' }],
    changes: [{ state: 'failed' }],
  });
});

test('an edit is of the same change, at the time of the edit', () => {
  const edited = (text: string, ts: string) =>
    slackMessage.read(
      {
        type: 'message',
        subtype: 'message_changed',
        channel: 'C0DEPLOYS',
        ts,
        message: { type: 'message', bot_id: 'B0CI', ts: TS, text, edited: { ts } },
      },
      { receivedAt: new Date(0) },
    );
  const begun = changeIn({ text: 'shop-api is being deployed to production' });
  const done = edited('shop-api was deployed to production', '1772366400.000100');
  expect(done.ok && done.changes).toMatchObject([
    { id: begun?.id, state: 'succeeded', at: at('1772366400.000100') },
  ]);
});

test('reads a line of any length in no time', () => {
  for (const part of ['deployed ', 'a ', 'http://', '1.', '-', 'by ', 'release of a '])
    expect(changeIn({ text: `deployed shop ${part.repeat(20_000)}` })?.title.length ?? 0).toBeLessThan(500);
});
