import { expect, test } from 'vitest';
import { redactAlert } from '../../../src/ingest/redact-alert.ts';
import { boxAlert } from '../../support/core.ts';

test('secrets in an alert are not stored, and its fingerprint stays', () => {
  const alert = boxAlert({
    title: 'cannot connect to postgres://shop:hunter2pass@db:5432/shop',
    annotations: { description: "ALTER ROLE app PASSWORD 'correct horse'" },
  });
  const stored = redactAlert(alert);
  expect(JSON.stringify(stored)).not.toMatch(/hunter2pass|correct horse/);
  expect(stored.fingerprint).toBe(alert.fingerprint);
  expect(stored.labels).toEqual(alert.labels);
});
