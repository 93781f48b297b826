import { describe, expect, it } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { layerNames } from '../../../src/safety/layers.ts';
import { HOME, type HomeParts, homeView } from '../../../src/slack/views/home.ts';
import type { HomeFacts } from '../../../src/slack/views/home-facts.ts';
import { layersView, rolesView, watchedView } from '../../../src/slack/views/home-windows.ts';
import { sparkline } from '../../../src/slack/views/sparkline.ts';
import { anAction, anIncident } from '../../support/incident-record.ts';

const AT = '2026-01-01T10:12:00.000Z';
const facts: HomeFacts = {
  isAdmin: false,
  isStopped: false,
  state: [],
  cost: { says: '$0.42 of $100.00 today.', days: [null, 1, 8, null, 4] },
  onCall: null,
  targets: [
    { name: 'shop-db', state: 'answers', at: AT },
    { name: 'web-1', state: 'away', at: AT },
  ],
  gaps: [
    {
      target: 'shop-db',
      reason: 'permission denied for pg_stat_statements',
      incidents: 9,
      of: 14,
      who: 'A DBA.',
      what: 'Grant it.',
      exact: 'GRANT pg_read_all_stats TO sentry;',
      note: null,
    },
  ],
  approvals: [],
  holders: new Map(),
  layers: layerNames.map((name, at) => ({
    number: at + 1,
    name,
    state: name === 'container' ? 'part' : name === 'HTTP' ? 'off' : 'on',
    says: `detail of ${name}`,
  })),
};
const parts = (changes: Partial<HomeParts> = {}): HomeParts => ({
  status: ['Mode ACTIVE.'],
  open: [anIncident()],
  facts,
  onCall: 'Olivia, Noah',
  promotions: null,
  holderOf: () => 'Olivia',
  urlOf: (incident) => `https://example.slack.com/archives/C0/${incident.id}`,
  cardOf: ({ action }) => `https://example.slack.com/archives/C0/${action.id}`,
  at: AT,
  ...changes,
});
const shown = (changes: Partial<HomeParts> = {}): string => JSON.stringify(homeView(parts(changes)).blocks);
const approval = { action: anAction(), steps: [anAction()] };

describe('App Home', () => {
  it('has incidents with their threads and who has them, the mode, cost, who is on call, targets, what cannot be read, safeguards', () => {
    const text = shown();
    for (const each of [
      'archives/C0/INC-7',
      'Olivia has it',
      'Mode ACTIVE',
      '$0.42 of $100.00 today.',
      ' ·▂█·▅ 5 days',
      'Olivia, Noah',
      '✗ web-1 cannot be reached,',
      'shop-db, in 9 of 14 incidents: permission denied for pg_stat_statements',
      '13 of 15 on; off: HTTP',
      'As of ',
    ])
      expect(text, each).toContain(each);
    // What does not answer comes before what does.
    expect(text.indexOf('web-1')).toBeLessThan(text.indexOf('✓ shop-db'));
  });

  it('says of a group how many alerts it has', () => {
    expect(shown({ open: [anIncident({ title: 'DiskFull', members: 50 })] })).toContain(
      'INC-7 50 of DiskFull',
    );
  });

  it('lists what waits for this person, with the card and until when', () => {
    const text = shown({ facts: { ...facts, approvals: [approval] } });
    expect(text).toContain('Waits for your approval');
    expect(text).toContain(`archives/C0/${approval.action.id}`);
    expect(text).toContain('until ');
    expect(shown()).not.toContain('Waits for your approval');
  });

  it('has the switch and the waiting proposals for memory for admins alone', () => {
    expect(shown()).not.toContain(HOME.stop);
    const promotions = { waiting: 2, channel: 'C0ADMIN01' };
    const admin = shown({ facts: { ...facts, isAdmin: true }, promotions });
    expect(admin).toContain(HOME.stop);
    expect(admin).toContain('2 proposals for everybody’s memory wait');
    expect(admin).toContain('"channel_id":"C0ADMIN01"');
    const stopped = shown({ facts: { ...facts, isAdmin: true, isStopped: true } });
    expect(stopped).toContain(HOME.resume);
    expect(stopped).not.toContain(HOME.stop);
  });

  it('keeps what the layers say of the configuration for admins, and the buttons of watched logs', () => {
    const layers = (isAdmin: boolean) => JSON.stringify(layersView(facts.layers, isAdmin));
    expect(layers(false)).toContain('throttle');
    expect(layers(false)).not.toContain('detail of');
    expect(layers(true)).toContain('detail of throttle');
    const log = {
      target: 'web-1',
      log: '/var/log/app.log',
      state: 'watched',
      lines: 1,
      matched: 0,
      cut: 0,
      lineRate: 1,
      matchRate: 0,
      problem: null,
      note: null,
      notedAt: null,
      stoppedBy: null,
      stoppedAt: null,
    } as const;
    expect(JSON.stringify(watchedView([log], false))).not.toContain(HOME.watchSet);
    expect(JSON.stringify(watchedView([log], true))).toContain('stop web-1 /var/log/app.log');
  });

  it('draws which role may use which tool as letters, in one row a tool', () => {
    const tool = (name: string, kind: 'read' | 'active') => ({ name, kind, says: 'x' });
    const text = JSON.stringify(
      rolesView(
        ['box: you approve nothing.'],
        [{ domain: 'hosts', tools: [tool('a_read', 'read'), tool('b_act', 'active')] }],
      ),
    );
    expect(text).toContain('RTD·VM a_read');
    expect(text).toContain('R··S·M b_act');
    expect(text).toContain('you approve nothing');
  });

  it('draws a day without a record as a gap, and one without cost as the lowest bar', () => {
    expect(sparkline([null, 0, 1, 10])).toBe('·▁▂█');
    expect(sparkline([0, 0])).toBe('▁▁');
    expect(sparkline([])).toBe('');
  });

  it('stays short with a thousand incidents and long words, and says how many more there are', () => {
    const many = Array.from({ length: 200 }, (_, n) =>
      anIncident({ id: asIncidentId(`INC-${n + 1}`), title: 'x'.repeat(3000), target: 'y'.repeat(500) }),
    );
    const view = homeView(
      parts({
        open: many,
        facts: { ...facts, isAdmin: true, approvals: Array.from({ length: 50 }, () => approval) },
      }),
    );
    expect(view.blocks.length).toBeLessThan(15);
    expect(JSON.stringify(view).length).toBeLessThan(20_000);
    expect(JSON.stringify(view)).toContain('and 192 more');
  });

  it('is two screens of a phone at most where all is quiet', () => {
    const quiet = homeView(parts({ open: [], facts: { ...facts, gaps: [] } }));
    const text = quiet.blocks
      .flatMap((block) => JSON.stringify(block).match(/"text":"[^"]*"/g) ?? [])
      .join('');
    expect(text.length).toBeLessThan(1_300);
  });

  it('is drawn without what could not be told', () => {
    expect(shown({ facts: null })).toContain('INC-7');
  });
});
