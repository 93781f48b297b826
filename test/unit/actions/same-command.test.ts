import { describe, expect, test } from 'vitest';
import { sameCommand } from '../../../src/core/same-command.ts';

const command = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = 7 AND backend_start = '2026-11-21T10:00:00.120Z'`;

describe('in nothing but looks', () => {
  test.each([
    command.replace('2026-11-21T10:00:00.120Z', '2026-11-21 10:00:00.12+00'),
    command.replace('2026-11-21T10:00:00.120Z', '2026-11-21T12:00:00.120000+02:00'),
    command.replace('2026-11-21T10:00:00.120Z', '2026-11-21T04:30:00.12-0530'),
    `  ${command.replaceAll(' ', '\n\t ')} ;; `,
    command.replace('7', '\uff17'),
  ])('%s', (other) => {
    expect(sameCommand(command, other)).toBe(true);
  });
});

describe('in what they do', () => {
  test.each([
    command.replace('7', '8'),
    command.replace('.120Z', '.121Z'),
    command.replace('.120Z', '.120001Z'),
    command.replace('Z', '+01'),
    command.replace('terminate', 'cancel'),
    'VACUUM "public"."Orders"',
  ])('%s', (other) => {
    expect(sameCommand(command, other)).toBe(false);
  });
  test('case is part of a name', () => {
    expect(sameCommand('VACUUM "public"."Orders"', 'VACUUM "public"."orders"')).toBe(false);
  });
});
