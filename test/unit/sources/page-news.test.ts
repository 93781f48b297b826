import { describe, expect, test } from 'vitest';
import { alertSource, readPageNews } from '../../../src/sources/registry.ts';

const receivedAt = new Date('2026-03-01T12:00:00Z');
const read = (source: string, payload: unknown) => readPageNews(source, payload, { receivedAt });

const ours = 'https://example.pagerduty.com/incidents/Q0000000000001';
const opsgenie = 'https://app.opsgenie.com/alert/detail/052652ac-5d1c-464a-812a-7dd18bbfba8c/details';
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
const message = (content: object, more: object = {}) => ({
  type: 'message',
  channel: 'C1',
  ts: '1772366400.000100',
  bot_id: 'B1',
  bot_profile: { name: JSON.stringify(content).includes(opsgenie) ? 'Opsgenie' : 'PagerDuty' },
  ...content,
  ...more,
});

describe('a message in Slack of the services’ own apps', () => {
  test.each([
    [
      'PagerDuty, triggered',
      {
        attachments: [
          { color: '#d9534f', blocks: [section(`:red_circle: *<${ours}|[#2] INC-12: The disk is full>*`)] },
        ],
      },
      { dedupKey: 'INC-12', kind: 'echo', by: null, to: null },
    ],
    [
      'PagerDuty, acknowledged',
      { blocks: [section(`*Acknowledged by Ann Lee*\n<${ours}|[#2] INC-12 (level 2): The disk is full>`)] },
      { dedupKey: 'INC-12-level-2', kind: 'acknowledged', by: 'Ann Lee', to: null },
    ],
    [
      'PagerDuty, a status alone',
      { blocks: [section(`<${ours}|INC-12: Somebody reassigned it>`), section('*Status:* Acknowledged')] },
      { dedupKey: 'INC-12', kind: 'acknowledged', by: null, to: null },
    ],
    [
      'PagerDuty, reassigned',
      { text: `Incident #2 was reassigned to Ben by Ann\n<${ours}|[#2] INC-12: x>` },
      { dedupKey: 'INC-12', kind: 'reassigned', by: 'Ann', to: 'Ben' },
    ],
    [
      'PagerDuty, resolved',
      { attachments: [{ blocks: [section(`*Resolved:* <${ours}|[#2] INC-12: The disk is full>`)] }] },
      { dedupKey: 'INC-12', kind: 'resolved', by: null, to: null },
    ],
    [
      'Opsgenie, created',
      { attachments: [{ title: '[Opsgenie] #3: INC-12: resolved by nobody', title_link: opsgenie }] },
      { dedupKey: 'INC-12', kind: 'echo', by: null, to: null },
    ],
    [
      'Opsgenie, acknowledged',
      {
        attachments: [
          {
            pretext: 'Ann acknowledged alert #3 "INC-12: The disk is full"',
            title: '#3: INC-12: The disk is full',
            title_link: opsgenie,
          },
        ],
      },
      { dedupKey: 'INC-12', kind: 'acknowledged', by: 'Ann', to: null },
    ],
    [
      'Opsgenie, closed',
      {
        attachments: [
          { pretext: 'Ann closed alert #3 "INC-12: x"', title: '#3: INC-12: x', title_link: opsgenie },
        ],
      },
      { dedupKey: 'INC-12', kind: 'resolved', by: 'Ann', to: null },
    ],
  ])('%s', (_, content, expected) => {
    expect(read('slack', message(content))).toEqual({ ...expected, at: '2026-03-01T12:00:00.000Z' });
  });

  test('an edit says what it says now', () => {
    const edited = {
      channel: 'C1',
      ts: '1772366500.000200',
      subtype: 'message_changed',
      message: message(
        { blocks: [section(`Acknowledged by Ann\n<${ours}|[#2] INC-12: x>`)] },
        { edited: { ts: '1772366460.000000' } },
      ),
    };
    expect(read('slack', edited)).toMatchObject({
      dedupKey: 'INC-12',
      kind: 'acknowledged',
      by: 'Ann',
      at: '2026-03-01T12:01:00.000Z',
    });
  });

  test.each([
    ['a person’s', message({ text: `<${ours}|INC-12: x> acknowledged` }, { bot_id: undefined, user: 'U1' })],
    [
      'a reply’s',
      message({ text: `Acknowledged by Ann <${ours}|INC-12: x>` }, { thread_ts: '1772366000.000100' }),
    ],
    ['a link elsewhere', message({ text: '<https://example.com/incidents/Q0000000000001|INC-12: x>' })],
    ['another incident of theirs', message({ text: `<${ours}|[#2] The disk is full, like INC-12: x>` })],
    ['a text beside their link', message({ text: `INC-12: x <${ours}|[#2] The disk is full>` })],
    [
      'a link through elsewhere',
      message({ text: `<https://example.com/?to=${ours}|INC-12: x>`, bot_profile: { name: 'PagerDuty' } }),
    ],
    [
      'a host like theirs',
      message({ text: '<https://x.pagerduty.com.evil.example/incidents/Q0000000000001|INC-12: x>' }),
    ],
    ['another app’s', message({ text: `<${ours}|INC-12: x>` }, { bot_profile: { name: 'Disk watcher' } })],
    ['an app’s without a name', message({ text: `<${ours}|INC-12: x>` }, { bot_profile: undefined })],
    ['the other service’s', message({ text: `<${ours}|INC-12: x>` }, { bot_profile: { name: 'Opsgenie' } })],
    ['nothing', {}],
    ['no object', 'INC-12'],
  ])('%s is no news', (_, payload) => {
    expect(read('slack', payload)).toBeNull();
  });
});

describe('a webhook', () => {
  const event = (data: object, more: object = {}) => ({
    event: {
      event_type: 'incident.acknowledged',
      occurred_at: '2026-03-01T11:00:00Z',
      agent: { type: 'user_reference', summary: 'Ann' },
      data: { type: 'incident', ...data },
      ...more,
    },
  });

  test.each([
    [{ incident_key: 'INC-12' }, 'INC-12'],
    [
      { incident_key: 'd3640fbd', alerts: [{ alert_key: 'x' }, { alert_key: 'INC-12-level-3' }] },
      'INC-12-level-3',
    ],
    [{ first_trigger_log_entry: { channel: { type: 'api', incident_key: 'INC-7' } } }, 'INC-7'],
    [{ incident_key: 7, alerts: [{ alert_key: 'INC-12' }], assignees: 'nobody' }, 'INC-12'],
  ])('of PagerDuty has the key of %j', (data, dedupKey) => {
    expect(read('pagerduty', event(data))).toMatchObject({ dedupKey, kind: 'acknowledged', by: 'Ann' });
  });

  test.each([
    event({ incident_key: 'INC-12 ' }),
    event({ incident_key: 'prefix INC-12' }),
    event({ incident_key: 'INC-12\u0000' }),
    event({ title: 'INC-12' }),
    event({ type: 'incident_note', incident_key: 'INC-12' }),
    { event: null },
    null,
    [],
  ])('of PagerDuty is none with another key: %j', (payload) => {
    expect(read('pagerduty', payload)).toBeNull();
  });

  test('of a kind that says nothing of whose it is, or that nobody has heard of, is an echo', () => {
    for (const event_type of [
      'incident.triggered',
      'incident.escalated',
      'incident.priority_updated',
      '__proto__',
      'constructor',
    ])
      expect(read('pagerduty', event({ incident_key: 'INC-12' }, { event_type }))).toMatchObject({
        kind: 'echo',
      });
    for (const action of ['Create', 'AddNote', 'Escalate', '__proto__'])
      expect(read('opsgenie', { action, alert: { alias: 'INC-12' } })).toMatchObject({ kind: 'echo' });
  });

  test('whose time or person is no time and no person is news all the same', () => {
    const strange = { occurred_at: { at: 'noon' }, agent: 'Ann' };
    expect(read('pagerduty', event({ incident_key: 'INC-12' }, strange))).toEqual({
      dedupKey: 'INC-12',
      kind: 'acknowledged',
      by: null,
      to: null,
      at: receivedAt.toISOString(),
    });
    const agent = { type: 'user_reference', summary: `<!channel>\u0000\n${'x'.repeat(10_000)}` };
    const told = read('pagerduty', event({ incident_key: 'INC-12' }, { agent }));
    expect(told?.by).toMatch(/^<!channel> x+…$/);
    expect(told?.by?.length).toBe(80);
  });

  test('of another source is none', () => {
    expect(read('datadog', event({ incident_key: 'INC-12' }))).toBeNull();
    expect(read('constructor', {})).toBeNull();
  });

  test('whose key has our form is still an alert to whoever has no such page', async () => {
    const payload = event({ id: 'Q1', incident_key: 'INC-12', title: 'INC-12: x', status: 'triggered' });
    expect(await alertSource('pagerduty').read(payload, { receivedAt })).toMatchObject({
      ok: true,
      alerts: [{ status: 'firing' }],
    });
  });
});
