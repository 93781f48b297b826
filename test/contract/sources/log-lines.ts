import type { SourceFixtures } from './fixtures.ts';

const lines = {
  target: 'web-1',
  log: '/var/log/shop/app.log',
  pattern: 'ShopErrors',
  severity: 'error',
  shape: '# ERROR order # failed',
  line: '2026-03-01T11:59:30Z ERROR order 17 failed\n  at pay (pay.js:7)',
  lines: 12,
  from: '2026-03-01T11:59:30.123Z',
  to: '2026-03-01T11:59:31Z',
  reading: 'a:0',
};

export const fixtures: SourceFixtures = {
  firing: lines,
  alert: {
    name: 'ShopErrors',
    title: 'ShopErrors in app.log: 2026-03-01T11:59:30Z ERROR order 17 failed',
    severity: 'error',
    target: 'web-1',
    labels: { alertname: 'ShopErrors', target: 'web-1', log: '/var/log/shop/app.log' },
    annotations: {
      line: lines.line,
      lines: '12',
      from: '2026-03-01T11:59:30.123Z',
      to: '2026-03-01T11:59:31.000Z',
    },
  },
  resolved: null,
  otherThing: { ...lines, log: '/var/log/shop/web.log' },
  carrying: (text) => ({ ...lines, target: text, log: text, pattern: text, shape: text, line: text }),
  bad: [
    { payload: null, field: '', says: 'lines of a log' },
    { payload: { ...lines, severity: 'dire' }, field: 'severity', says: 'critical' },
    { payload: { ...lines, log: '' }, field: 'log', says: 'some text' },
    { payload: { ...lines, lines: 0 }, field: 'lines', says: 'at least one' },
    { payload: { ...lines, from: 'yesterday' }, field: 'from', says: 'time' },
  ],
};
