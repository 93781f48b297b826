import { describe, expect, it } from 'vitest';
import { terminalStory } from '../../../src/cli/terminal-story.ts';
import type { IncidentEventBody } from '../../../src/core/event.ts';
import { moment } from '../../../src/incidents/questions/own-marks.ts';
import { markedWhy, why } from '../../../src/incidents/questions/why.ts';
import { storyBlocks } from '../../../src/slack/views/blocks/story.ts';
import {
  aDiagnosis,
  anAction,
  aRecord,
  CALL,
  eventsOf,
  wholeIncident,
} from '../../support/incident-record.ts';

const midnight = moment('2026-11-22T00:00:01Z');

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
      spansOf(`${midnight}:\n${midnight}  <@U0ONCALL> stopped it until ${moment('2026-11-22T08:00:00Z')}`),
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
      `${midnight}  called <@U0ONCALL>: nobody had it`,
      `${midnight}  muted until ${moment('2026-11-22T08:00:00Z')} by <@U0ONCALL> (M1)`,
      'Closed by <@U0ONCALL>. Severity critical',
    ])
      expect(spansOf(line)).toContainEqual({ type: 'user', user_id: 'U0ONCALL' });
  });

  it('mentions nobody whom an alert names, and makes no link of what it brings', () => {
    const spans = spansOf(
      `${midnight}  the alert says <@U0BOSS> <!channel> <https://evil.example|here>\n• why: approved by <@U0BOSS>`,
    );
    expect(spans.map((span) => (span as { type: string }).type)).toEqual(['date', 'text', 'text', 'text']);
  });

  it('changes no byte of what a log or a command says, and tells only its own times otherwise', () => {
    const quote = '2026-11-22T00:00:01Z ERROR: `orders` at 2026-11-21T10:00:00Z';
    const command = "SELECT `a` FROM t WHERE at > '2026-11-21T10:00:00Z'";
    const read = { ...wholeIncident.find(({ type }) => type === 'tool.called')!, summary: quote };
    const record = aRecord({
      actions: [anAction({ command, objects: [] })],
      events: eventsOf(read as IncidentEventBody, {
        type: 'diagnosis.concluded',
        round: 1,
        diagnosis: aDiagnosis({
          evidence: [{ claim: 'The log says so.', toolCallIds: [CALL], quote: '2026-11-22T00:00:01Z down' }],
        }),
      }),
    });
    const shown = spansOf(markedWhy(record)) as { type: string; text?: string; style?: { code?: boolean } }[];
    const text = shown.map((span) => span.text ?? '|').join('');
    expect(text).toContain('“2026-11-22T00:00:01Z down”');
    expect(text).toContain('2026-11-22T00:00:01Z ERROR: orders at 2026-11-21T10:00:00Z');
    expect(shown).toContainEqual(expect.objectContaining({ text: command, style: { code: true } }));
    expect(shown.some(({ type }) => type === 'date')).toBe(true);
    expect(text).not.toContain('\u2063');
    const terminal = terminalStory(markedWhy(record), new Map(), 'Asia/Kolkata');
    expect(terminal).toContain('“2026-11-22T00:00:01Z down”');
    expect(terminal).toContain(quote);
    expect(terminal).toContain(command);
    expect(terminal).not.toContain('\u2063');
    expect(why(record)).not.toContain('\u2063');
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
