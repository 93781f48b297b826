import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ageLog } from '../../../src/infra/log/age-log.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const line = (time: string) => `{"level":30,"time":"${time}","msg":"x"}\n`;

it('a log that begins too long ago is put aside, and deleted once its end is as old [S-retention]', () => {
  const file = join(scratchDir(), 'sentry.log');
  ageLog(file, 30, NOW);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, line('2026-05-20T00:00:00Z'));
  ageLog(file, 30, NOW);
  expect(existsSync(file)).toBe(true);
  writeFileSync(file, line('2026-04-01T00:00:00Z'));
  ageLog(file, 30, NOW);
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(`${file}.1`, 'utf8')).toContain('2026-04-01');
  utimesSync(`${file}.1`, NOW / 1000, NOW / 1000 - 29 * 86_400);
  ageLog(file, 30, NOW);
  expect(existsSync(`${file}.1`)).toBe(true);
  utimesSync(`${file}.1`, NOW / 1000, NOW / 1000 - 31 * 86_400);
  ageLog(file, 30, NOW);
  expect(existsSync(`${file}.1`)).toBe(false);
});

it('a log whose first line tells no time stays [S-retention]', () => {
  const file = join(scratchDir(), 'sentry.log');
  for (const text of ['', 'not JSON\n', '{"time":"never"}\n']) {
    writeFileSync(file, text);
    ageLog(file, 30, NOW);
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
});
