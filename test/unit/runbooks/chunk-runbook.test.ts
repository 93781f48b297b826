import { describe, expect, it } from 'vitest';
import { chunkRunbook } from '../../../src/runbooks/chunk-runbook.ts';
import type { Runbook } from '../../../src/runbooks/runbook.ts';

const runbook = (body: string): Runbook => ({
  id: 'locks',
  title: 'Locks',
  domains: ['postgres'],
  version: 1,
  type: 'blocked_sessions',
  matches: { alerts: ['*Blocked*'], text: ['lock wait'], labels: {} },
  ignoreWhenHealthy: false,
  steps: [],
  verify: {},
  body,
  file: 'locks.md',
});

describe('the chunks of a runbook', () => {
  const body =
    '# Locks\n\nWhy.\n\n## Look\n\n```yaml step\nid: secret\n```\n\n```sql\nSELECT 1;\n```\n\n### Deeper\n\nMore.';

  it('begin with what it is known by', () => {
    expect(chunkRunbook(runbook(body))[0]?.text).toBe(
      'Locks\nKind of incident: blocked sessions\nAlerts: Blocked\nAlso called: lock wait',
    );
  });

  it('carry the trail of headings and no machine-readable block', () => {
    const chunks = chunkRunbook(runbook(body));
    expect(chunks.map((chunk) => chunk.heading)).toEqual([
      'Locks',
      'Locks',
      'Locks › Look',
      'Locks › Look › Deeper',
    ]);
    expect(chunks.map((chunk) => chunk.text).join()).not.toContain('secret');
    expect(chunks[2]?.text).toContain('SELECT 1;');
  });

  it('cut a long section between paragraphs and lose nothing', () => {
    const paragraphs = Array.from({ length: 30 }, (_, n) => `${n} ${'word '.repeat(40)}`.trim());
    const chunks = chunkRunbook(runbook(paragraphs.join('\n\n'))).slice(1);
    expect(chunks.length).toBeGreaterThan(3);
    expect(Math.max(...chunks.map((chunk) => chunk.text.length))).toBeLessThanOrEqual(1500);
    expect(chunks.map((chunk) => chunk.text).join('\n\n')).toBe(paragraphs.join('\n\n'));
  });

  it('have ids that stay', () => {
    const ids = chunkRunbook(runbook(body)).map((chunk) => chunk.id);
    expect(ids).toEqual(['locks#0', 'locks#1', 'locks#2', 'locks#3']);
  });
});
