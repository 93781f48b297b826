import { mappedFixtures } from './mapped.ts';

/** Written from Checkly's documentation, with the template of docs/alert-sources.md. */
export const fixtures = mappedFixtures({
  firing: {
    event: 'Checkout has failed',
    alert_type: 'ALERT_FAILURE',
    check_name: 'Checkout',
    group_name: 'shop',
    check_id: '9d1d1e7d-0f2a-4a52-9d10-6d1f1a9d3c11',
    check_type: 'API',
    check_result_id: '1c0be612-a5ec-432e-ac1c-837d2f70c010',
    check_error_message: 'expected 200, got 502',
    started_at: '2026-03-01T11:58:00.000Z',
    link: 'https://app.checklyhq.com/checks/9d1d1e7d',
  },
  alert: {
    name: 'Checkout',
    title: 'Checkout',
    severity: 'critical',
    target: 'shop',
    startsAt: '2026-03-01T11:58:00.000Z',
  },
  resolved: { alert_type: 'ALERT_RECOVERY', event: 'Checkout has recovered', check_error_message: '' },
  otherThing: { check_id: 'ad1d1e7d-0f2a-4a52-9d10-6d1f1a9d3c12', check_name: 'Search' },
  words: ['alert_type'],
});
