import { describe, expect, it } from 'vitest';
import type { Target } from '../../../src/core/target.ts';
import { aboutIt } from '../../../src/incidents/context/about-it.ts';
import { anIncident, aRecord } from '../../support/incident-record.ts';

const shopDb = { name: 'shop-db', kind: 'postgres', domain: 'postgres', aliases: ['orders-db'] };
const targets = new Map([[shopDb.name, shopDb as unknown as Target]]);
const about = (changes: Parameters<typeof anIncident>[0]) =>
  aboutIt(aRecord({ incident: anIncident(changes), actions: [], events: [] }), targets);
const isAbout = (text: string, changes: Parameters<typeof anIncident>[0] = {}) => about(changes)?.(text);
const labels = {
  service: 'checkout',
  pod: 'api-7d9f8b6c5d-x2x4z',
  instance: 'db-7.internal:9187',
  job: 'node',
};

describe('a message is about an incident', () => {
  it.each([
    'rolled back shop-db to 1.2',
    'Shop-DB: that’s my load test',
    '`orders-db` is being moved',
    'checkout is mine, I’m on it',
    'restarted api just now',
    'rebooting db-7.internal.',
    'PostgresBlockedSessions again?',
    'sessions are blocked on postgres, as yesterday',
  ])('by a name of it, whole: %s', (text) => {
    expect(isAbout(text, { labels })).toBe(true);
  });

  it.each([
    'rolled back shop-db-canary to 1.2',
    'my-shop-db is fine',
    'shop-db2 is new, shop-dbs are many',
    'xcheckout and checkout_old',
    'api.example.com is down, gateway-api too',
    // The sort of thing that it is, and words of the alert's name by themselves.
    'postgres is a fine database',
    'my sessions are blocked',
    'node 20 is out',
    'lunch?',
    '',
  ])('and not by a part of one: %s', (text) => {
    expect(isAbout(text, { labels })).toBe(false);
  });

  it('is not looked for where nothing tells it from others: one word, the first of a headline, its own machine', () => {
    const nameless = { target: null, labels: { instance: 'localhost:9100', job: 'node', service: '7' } };
    expect(about({ ...nameless, alertName: 'Down', title: 'Checkout: it is slow' })).toBeNull();
    expect(about({ ...nameless, alertName: null })).toBeNull();
    expect(isAbout('down again', { ...nameless, alertName: 'InstanceDown' })).toBe(false);
    expect(isAbout('InstanceDown again', { ...nameless, alertName: 'InstanceDown' })).toBe(true);
  });

  it('reads a name as it is written, and of a long text the beginning alone', () => {
    const odd = { target: null, labels: { service: 'a.c(' }, alertName: null };
    expect(isAbout('a.c( is slow', odd)).toBe(true);
    expect(isAbout('abc( is slow', odd)).toBe(false);
    expect(isAbout(`${'x '.repeat(2_500)}shop-db`)).toBe(false);
    const many = Object.fromEntries(['app', 'service', 'pod'].map((key) => [key, 'x'.repeat(5_000)]));
    expect(isAbout('shop-db', { labels: many })).toBe(true);
  });
});
