import { mappedFixtures } from './mapped.ts';

/** Written from Sentry.io's documentation: an issue. */
export const fixtures = mappedFixtures({
  firing: {
    action: 'created',
    data: {
      issue: {
        id: '1170820242',
        shortId: 'SHOP-1N',
        title: 'TypeError: Object [object Object] has no method updateFrom',
        culprit: 'src/checkout.js in pay',
        level: 'error',
        status: 'unresolved',
        project: { id: '1', name: 'shop', slug: 'shop' },
        web_url: 'https://shop.sentry.io/issues/1170820242/',
        firstSeen: '2026-03-01T11:58:00.000000Z',
        lastSeen: '2026-03-01T11:59:00.000000Z',
      },
    },
  },
  alert: {
    name: 'TypeError: Object [object Object] has no method updateFrom',
    title: 'TypeError: Object [object Object] has no method updateFrom',
    severity: 'error',
    target: 'shop',
    url: 'https://shop.sentry.io/issues/1170820242/',
  },
  resolved: { action: 'resolved', 'data.issue.status': 'resolved' },
  otherThing: { 'data.issue.id': '1170820243' },
  words: ['action'],
});
