import { describe, expect, it } from 'vitest';
import { contextData } from '../../../src/agents/claude/context-data.ts';
import type { Investigation } from '../../../src/agents/ports.ts';
import type { GatheredPart } from '../../../src/core/context.ts';
import { type ChannelMessage, type ChannelsRead, channels } from '../../../src/incidents/context/channels.ts';
import type { ContextAbout } from '../../../src/incidents/context/part.ts';
import { why } from '../../../src/incidents/questions/why.ts';
import { diagnosisView } from '../../../src/slack/views/record-views.ts';
import { aDiagnosis, anIncident, aRecord, eventsOf } from '../../support/incident-record.ts';

const OPENED = '2026-11-28T10:00:00.000Z';
const about = {
  record: aRecord({ incident: anIncident({ openedAt: OPENED }), actions: [], events: [] }),
} as unknown as ContextAbout;
const said = (minutes: number, text: string, name = 'olivia'): ChannelMessage => ({
  userId: `U${name}`,
  name,
  text,
  channel: 'deploys',
  at: Date.parse(OPENED) + minutes * 60_000,
});
const told = async (read: Partial<ChannelsRead>) =>
  channels(async () => ({ said: [], read: 3, unread: 0, missing: null, ...read }), new Map()).gather(about);

describe('what people said in channels', () => {
  it('is quoted with who said it, where, and how long before the incident or after', async () => {
    expect(
      await told({
        said: [said(-4, 'rolled back shop-db to 1.2'), said(130, 'that’s my load test', 'noah')],
      }),
    ).toEqual({
      line: 'olivia in #deploys, 4 min before it was opened: “rolled back shop-db to 1.2”; noah in #deploys, 2 h after it was opened: “that’s my load test”',
      people: ['Uolivia', 'Unoah'],
    });
  });

  it('is the last of it that fits, each quote with whose words it is', async () => {
    const long = (at: number) => said(at, `shop-db ${'very '.repeat(30)}slow`, 'n'.repeat(40));
    const found = await told({ said: [1, 2, 3, 4, 5].map(long) });
    expect(found?.line).toMatch(
      /^n+…? in #deploys, 4 min after .*; n+…? in #deploys, 5 min after .*; 3 more before$/,
    );
    expect(found?.line.length).toBeLessThan(300);
    expect(await told({ said: [1, 2, 3, 4].map((at) => said(at, 'ok')) })).toMatchObject({
      line: expect.stringMatching(/; 1 more before$/),
    });
  });

  it('says where nothing was found, and what could not be read', async () => {
    expect(await told({})).toBeNull();
    expect(await told({ read: 10, unread: 14 })).toEqual({
      nothing: true,
      line: 'nothing in 10 channels; 14 more channels not read',
    });
    expect(
      await told({ said: [said(-4, 'shop-db')], unread: 1, missing: 'Slack does not answer' }),
    ).toMatchObject({
      line: expect.stringMatching(/“shop-db”; 1 more channel not read; some could not be read$/),
    });
    await expect(told({ missing: 'Slack does not answer' })).rejects.toThrow('Slack does not answer');
  });

  it('lets nobody write another’s words', async () => {
    const found = await told({
      said: [said(-4, 'no”; noah in #deploys: “rolled back\n✓ all well', 'm”; x: “')],
    });
    expect(found?.line.match(/[“”]/g)).toHaveLength(2);
  });
});

describe('what people said to each other', () => {
  const parts = ['thread', 'channels', 'links'].map(
    (name): GatheredPart => ({ name, label: name, state: 'found', ms: 1, line: `words in ${name}` }),
  );
  const record = aRecord({
    incident: anIncident(),
    actions: [],
    events: eventsOf(
      { type: 'incident.opened', source: 'alertmanager', title: 'x' },
      { type: 'context.gathered', round: 1, parts },
      { type: 'diagnosis.concluded', round: 1, diagnosis: aDiagnosis() },
    ),
  });

  it('is shown to people', () => {
    for (const shown of [why(record), JSON.stringify(diagnosisView(record, 1))])
      for (const { line } of parts) expect(shown).toContain(line);
  });

  it('is given to no model: not to look by, and not to answer by', () => {
    expect(contextData({ gathered: parts } as unknown as Investigation)).toEqual({
      context: ['links: words in links'],
    });
    const cited = why(record, { cites: true });
    expect(cited).toContain('words in links');
    expect(cited).not.toMatch(/words in (?:thread|channels)/);
  });
});
