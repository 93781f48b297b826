import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockedSessions } from '../../playground/claude/blocked-sessions.ts';
import {
  type MessagesRequest,
  type ScriptedReply,
  toolResultTexts,
} from '../../playground/claude/scenario.ts';
import { priceOf } from '../../src/llm/pricing.ts';
import type { CostReport } from '../../src/record/cost.ts';
import { textOf } from '../support/local-slack.ts';
import { sentry } from '../support/product.ts';
import { ClaudeScene } from './claude-scene.ts';

let scene: ClaudeScene;
beforeAll(async () => {
  scene = new ClaudeScene();
  await scene.begin();
});
afterAll(() => scene?.end());

/** The blocker as the live system showed it to the model: never as this test knows it. */
function rootBlocker(): { readonly pid: string; readonly session: string } {
  const results = scene.claude.requests.flatMap((request) => toolResultTexts(request.body)).reverse();
  const found = results
    .map((text) => /root: pid (\d+) \(([^)]*)\)/.exec(text))
    .find((match) => match !== null);
  return { pid: found?.[1] ?? '', session: found?.[2] ?? '' };
}

/** What the server says it charged for, by the price list, US dollars; `from`: without the requests before it. */
function charged(from = { requests: 0, doubts: 0 }): number {
  const { requests, doubts } = scene.claude;
  return [...requests.slice(from.requests), ...doubts.slice(from.doubts)].reduce((sum, { usage, body }) => {
    const price = priceOf(body.model);
    if (usage === undefined || price === undefined) return sum;
    const tokens = (name: string) => Number(usage[name] ?? 0);
    return (
      sum +
      (tokens('input_tokens') * price.input +
        tokens('cache_creation_input_tokens') * price.cacheWrite5m +
        tokens('cache_read_input_tokens') * price.cacheRead +
        tokens('output_tokens') * price.output) /
        1e6
    );
  }, 0);
}

describe('Claude investigates a real incident', () => {
  const FIRST_HALF = `${Array.from({ length: 36 }, (_, line) => `Line ${line + 1} of what I see here. `).join('')}HALFWAY`;
  const SECOND_HALF = ' AFTERWARDS and this is the rest of the sentence.';

  /** The demonstration, with a long text before its conclusion that is held half-way. */
  const slowly = (request: MessagesRequest): ScriptedReply => {
    const reply = blockedSessions(request);
    const concludes = (reply.blocks ?? []).some(
      (block) => 'tool' in block && block.tool === 'report_diagnosis',
    );
    if (!concludes) return reply;
    const rest = (reply.blocks ?? []).filter((block) => 'tool' in block);
    return {
      ...reply,
      blocks: [{ text: FIRST_HALF + SECOND_HALF }, ...rest],
      deltaChars: 24,
      eventDelayMs: 75,
      holdBefore: ' AFTER',
    };
  };

  it('shows its words while it speaks, proposes exactly the blocker, and the fix holds', async () => {
    scene.claude.play(slowly);
    // A second try comes after the first one's requests.
    const before = { requests: scene.claude.requests.length, doubts: scene.claude.doubts.length };
    const root = await scene.cause();
    await scene.claude.held();
    const live = await scene.inThread(root, /HALFWAY/, 5_000);
    expect(textOf(live)).not.toContain('AFTERWARDS');
    const grown = scene.shown
      .filter((message) => message.ts === live.ts)
      .map((message) => Number([...textOf(message).matchAll(/Line (\d+) of/g)].at(-1)?.[1] ?? 0))
      .filter((lines, index, all) => lines > (all[index - 1] ?? 0));
    process.stdout.write(`  the live message showed so many lines, edit by edit: ${grown.join(', ')}\n`);
    // An incident edits once in three seconds: what is spoken meanwhile comes with the next.
    expect(grown.length).toBeGreaterThanOrEqual(1);
    scene.claude.release();

    const { pid, session } = rootBlocker();
    expect(session).toContain('shop-backoffice');
    const { card, ended } = await scene.approve(root);
    expect(textOf(card)).toContain(`pid = ${pid}`);
    await scene.inThread(root, /Investigated .*· almost certain/);
    expect((await scene.thread(root)).map(textOf).join('\n')).not.toContain('the playbook goes on');
    expect((await scene.thread(root)).map(textOf).join('\n')).not.toContain('HALFWAY');
    expect(scene.claude.requests.filter((request) => request.problem !== undefined)).toEqual([]);

    const usd = charged(before);
    expect(usd).toBeGreaterThan(0.01);
    expect(textOf(ended)).toContain(`$${usd.toFixed(2)}`);
    const id = /INC-\d+/.exec(textOf(root))?.[0] ?? '';
    const { stdout } = await sentry(scene, ['incident', id, '--json']);
    const record = JSON.parse(stdout) as { incident: { costUsd: number }; events: { type: string }[] };
    expect(record.incident.costUsd).toBeCloseTo(usd, 6);
    const report = JSON.parse((await sentry(scene, ['cost', id, '--json'])).stdout) as CostReport;
    expect(report.incident?.usd).toBeCloseTo(usd, 6);
    expect(report.today.usd).toBeCloseTo(charged(), 6);
    const metrics = await (await fetch(`${scene.product.httpUrl}/metrics`)).text();
    for (const part of ['record', 'engine', 'slack', 'outbox'])
      expect(metrics).toContain(`sentry_part_up{part="${part}"} 1\n`);
    // The alert comes as a message, too: either may be the first.
    expect(metrics).toMatch(/^sentry_alerts_accepted_total\{.*way="webhook",kind="\w+"\} \d+$/m);
    expect(metrics).toMatch(/^sentry_alerts_accepted_total\{.*kind="opened"\} \d+$/m);
    expect(metrics).toContain('sentry_turns{state="waiting"} ');
    const counted = [...metrics.matchAll(/^sentry_model_cost_usd_total\{.*\} (\S+)$/gm)];
    expect(counted.reduce((sum, [, usd]) => sum + Number(usd), 0)).toBeCloseTo(charged(), 6);
    expect(record.events.find((event) => event.type === 'investigator.chosen')).toMatchObject({
      model: 'claude-opus-5-5',
      prompts: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });
});

describe('a restart of the bot while the model speaks', () => {
  it('pays for no finished message again, and the incident goes on to its end', async () => {
    scene.claude.play((request) => {
      const reply = blockedSessions(request);
      const concludes = (reply.blocks ?? []).some(
        (block) => 'tool' in block && block.tool === 'report_diagnosis',
      );
      return concludes ? { ...reply, holdBefore: 'Nothing else' } : reply;
    });
    const from = scene.claude.requests.length;
    const bodies = () => scene.claude.requests.slice(from).map((request) => JSON.stringify(request.body));
    const root = await scene.cause();
    await scene.claude.held();
    const before = bodies();
    await scene.product.kill();
    scene.claude.play(blockedSessions);
    scene.claude.release();
    await scene.start();
    const { ended } = await scene.approve(root);
    const words = (await scene.thread(root)).map(textOf).join('\n');
    expect(words).not.toContain('the playbook goes on');
    expect(textOf(ended)).toContain('fixed');
    // Once more the message that was cut off, to the byte, then the surgeon's.
    expect(bodies().slice(0, before.length)).toEqual(before);
    expect(bodies()[before.length]).toBe(before.at(-1));
    expect(bodies()).toHaveLength(before.length + 2);
  }, 240_000);
});
