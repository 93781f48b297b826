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

test('keys are hidden as values are, and names as titles; what is no secret stays a label of its own [F12]', () => {
  const key = 'AKIAIOSFODNN7EXAMPLE';
  const alert = boxAlert({
    name: `Blocked ${key}`,
    labels: { [key]: 'x', secret: 'orders-tls', instance: 'db:5432', ['__proto__']: 'p' },
    annotations: { [key]: 'y', password: 'S3cr3tPass!', note: key },
  });
  const { name, labels, annotations } = redactAlert(alert);
  expect(JSON.stringify([name, labels, annotations])).not.toMatch(/AKIA|S3cr3t/);
  expect(labels).toMatchObject({ secret: 'orders-tls', instance: 'db:5432' });
  // Pair by pair: a reader may not tell the order of the labels from the names of what was hidden.
  const other = { note: key, password: 'S3cr3tPass!', [key]: 'y' };
  expect(redactAlert({ ...alert, annotations: other }).annotations).toEqual(annotations);
});
