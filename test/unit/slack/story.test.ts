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

  it('mentions nobody whom an alert names, and makes no link of what it brings', () => {
    const spans = spansOf(
      '10:00:00  the alert says <@U0BOSS> <!channel> <https://evil.example|here>\n• why: approved by <@U0BOSS>',
    );
    expect(spans.every((span) => (span as { type: string }).type === 'text')).toBe(true);
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
