import type { ChangeFixtures } from './fixtures.ts';

/** Written from LaunchDarkly's documentation. */
const turnedOn = {
  _id: '603fe5bb3c3f2c0a1f0c4b1e',
  date: 1772366280000,
  kind: 'flag',
  name: 'New checkout',
  accesses: [{ action: 'updateOn', resource: 'proj/shop:env/production:flag/new-checkout' }],
  member: { email: 'olivia@example.com' },
  titleVerb: 'turned on the flag',
  _links: { site: { href: 'https://app.launchdarkly.com/shop/production/features/new-checkout' } },
};

export const changes: ChangeFixtures = {
  succeeded: turnedOn,
  change: {
    id: '603fe5bb3c3f2c0a1f0c4b1e',
    kind: 'feature_flag',
    title: 'Flag New checkout: turned on the flag',
    where: ['new-checkout', 'shop'],
    environment: 'production',
    at: '2026-03-01T11:58:00.000Z',
    by: 'olivia@example.com',
  },
  started: null,
  none: [{ ...turnedOn, kind: 'member' }],
};
