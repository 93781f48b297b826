import { describe, expect, it } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { MemorySummary } from '../../../src/memory/documents/summary.ts';
import { layerNames } from '../../../src/safety/layers.ts';
import { type HomeParts, homeView } from '../../../src/slack/views/home.ts';
import type { HomeFacts } from '../../../src/slack/views/home-facts.ts';
import { anIncident } from '../../support/incident-record.ts';

const facts: HomeFacts = {
  isAdmin: false,
  state: [],
  cost: ['Today (UTC) $0.42 of $100.00'],
  layers: layerNames.map((name, at) => ({
    number: at + 1,
    name,
    state: name === 'container' ? 'part' : name === 'HTTP' ? 'off' : 'on',
    says: `detail of ${name}`,
  })),
  access: ['shop-db: you may approve every change.'],
  tools: [{ domain: 'postgres', reading: 18, changing: ['end the session'] }],
};
const memory: MemorySummary = {
  episodes: { total: 3, succeeded: 2, failed: 1, unknown: 0, archived: 0 },
  documents: [
    { scope: 'workspace', trust: 'system_seeded', count: 12 },
    { scope: 'user', trust: 'user_authored', count: 2 },
  ],
  versions: 20,
  proposalsWaiting: 2,
  systems: [],
  outbox: 0,
};
const parts = (changes: Partial<HomeParts> = {}): HomeParts => ({
  status: ['Mode ACTIVE.'],
  open: [anIncident()],
  resolved: [anIncident({ id: asIncidentId('INC-3'), state: 'resolved' })],
  facts,
  memory,
  adminChannel: 'C0ADMIN01',
  urlOf: (incident) => `https://example.slack.com/archives/C0/${incident.id}`,
  ...changes,
});
const shown = (changes: Partial<HomeParts> = {}): string => JSON.stringify(homeView(parts(changes)).blocks);

describe('App Home', () => {
  it('has the mode, incidents with their threads, cost, access, memory, how many safeguards stand, and what it can change', () => {
    const text = shown();
    for (const each of [
      'Mode ACTIVE',
      'archives/C0/INC-7',
      'archives/C0/INC-3',
      '$0.42',
      'you may approve every change',
      '14 documents (12 everybody’s)',
      'Safeguards: 13 of 15 on',
      '18 kinds of look; once approved: end the session',
    ])
      expect(text, each).toContain(each.replaceAll('"', '\\"'));
  });

  it('says of a group how many alerts it has', () => {
    expect(shown({ open: [anIncident({ title: 'DiskFull', members: 50 })] })).toContain(
      'INC-7 50 of DiskFull',
    );
  });

  it('keeps what the layers say of the configuration, and the channel of the proposals, for admins', () => {
    expect(shown()).not.toContain('detail of');
    expect(shown()).not.toContain('C0ADMIN01');
    expect(shown()).toContain('2 proposals wait');
    const admin = shown({ facts: { ...facts, isAdmin: true } });
    expect(admin).toContain('detail of throttle');
    expect(admin).toContain('"channel_id":"C0ADMIN01"');
  });

  it('stays short with a thousand incidents and long words, and says how many more there are', () => {
    const many = Array.from({ length: 200 }, (_, n) =>
      anIncident({ id: asIncidentId(`INC-${n + 1}`), title: 'x'.repeat(3000), target: 'y'.repeat(500) }),
    );
    const view = homeView(
      parts({
        open: many,
        resolved: many,
        facts: {
          ...facts,
          isAdmin: true,
          layers: facts.layers.map((each) => ({ ...each, says: 'z'.repeat(5000) })),
        },
      }),
    );
    expect(view.blocks.length).toBeLessThan(30);
    expect(JSON.stringify(view).length).toBeLessThan(20_000);
    expect(JSON.stringify(view)).toContain('and 190 more');
  });

  it('is drawn without what could not be told', () => {
    expect(shown({ facts: null, memory: null })).toContain('INC-7');
  });
});
