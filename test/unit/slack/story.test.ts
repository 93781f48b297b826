import { describe, expect, it } from 'vitest';
import { storyBlocks } from '../../../src/slack/views/blocks/story.ts';

const spansOf = (text: string): unknown[] =>
  storyBlocks(text).flatMap((block) =>
    block.type === 'rich_text' ? block.elements.flatMap((part) => part.elements as unknown[]) : [],
  );

describe('the story of an incident in Slack', () => {
  it('draws headings bold, commands in fixed width and who decided as a person', () => {
    expect(spansOf('*Action* a: `SELECT 1`\n• approved by <@U0ONCALL> at noon')).toEqual([
      { type: 'text', text: 'Action', style: { bold: true } },
      { type: 'text', text: ' a: ' },
      { type: 'text', text: 'SELECT 1', style: { code: true } },
      { type: 'text', text: '\n' },
      { type: 'text', text: '• approved by ' },
      { type: 'user', user_id: 'U0ONCALL' },
      { type: 'text', text: ' at noon' },
    ]);
  });

  it('tells times in the zone of its reader, and who did it', () => {
    const at = (format: string, timestamp: number) =>
      expect.objectContaining({ type: 'date', format, timestamp });
    expect(
      spansOf(
        '2026-11-22T00:00:01Z:\n2026-11-22T00:00:01Z  <@U0ONCALL> stopped it until 2026-11-22T08:00:00Z',
      ),
    ).toEqual([
      at('{date_short}', 1795305601),
      { type: 'text', text: '\n' },
      at('{time_secs}', 1795305601),
      { type: 'text', text: '  ' },
      { type: 'user', user_id: 'U0ONCALL' },
      { type: 'text', text: ' stopped it until ' },
      at('{date_short} at {time}', 1795334400),
    ]);
  });

  it('draws whom it says was called, or muted, as a person', () => {
    for (const line of [
      '2026-11-22T00:00:01Z  called <@U0ONCALL>: nobody had it',
      '2026-11-22T00:00:01Z  muted until 2026-11-22T08:00:00Z by <@U0ONCALL> (M1)',
    ])
      expect(spansOf(line)).toContainEqual({ type: 'user', user_id: 'U0ONCALL' });
  });

  it('mentions nobody whom an alert names, and makes no link of what it brings', () => {
    const spans = spansOf(
      '2026-11-22T00:00:01Z  the alert says <@U0BOSS> <!channel> <https://evil.example|here>\n• why: approved by <@U0BOSS>',
    );
    expect(spans.map((span) => (span as { type: string }).type)).toEqual(['date', 'text', 'text', 'text']);
  });

  it('loses nothing of a long story', () => {
    const long = Array.from({ length: 400 }, (_, n) => `10:00:00  line ${n} of the story`).join('\n');
    const text = spansOf(long)
      .map((span) => (span as { text: string }).text)
      .join('');
    expect(text).toContain('line 0 of');
    expect(text).toContain('line 399 of');
    expect(storyBlocks(long).length).toBeGreaterThan(3);
  });
});
