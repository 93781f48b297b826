import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockedSessions } from '../../playground/claude/blocked-sessions.ts';
import {
  type MessagesRequest,
  type ScriptedReply,
  toolResultTexts,
} from '../../playground/claude/scenario.ts';
import { textOf } from '../support/local-slack.ts';
import { sentry } from '../support/product.ts';
import { ClaudeScene } from './claude-scene.ts';

let scene: ClaudeScene;
beforeAll(async () => {
  scene = new ClaudeScene();
  await scene.begin();
});
afterAll(() => scene?.end());

// Refusals, reports that stay invalid and the like: test/integration/agents/claude.
describe('when the model fails, the playbook takes over and says why', () => {
  const spoilt =
    (fault: ScriptedReply['fault']) =>
    (request: MessagesRequest): ScriptedReply => ({
      ...blockedSessions(request),
      ...(fault === undefined ? {} : { fault }),
    });
  /** The demonstration, with something else for its diagnosis. */
  const diagnosing =
    (reply: ScriptedReply) =>
    (request: MessagesRequest): ScriptedReply => {
      const scripted = blockedSessions(request);
      const reads = (request.tools ?? []).some((tool) => tool.name === 'report_diagnosis');
      return reads && toolResultTexts(request).length > 0 ? reply : scripted;
    };

  it.each<[string, (request: MessagesRequest) => ScriptedReply, RegExp]>([
    ['it answers 529 every time', spoilt({ kind: 'http', status: 529 }), /the model is overloaded/],
    ['it drops in the middle', spoilt({ kind: 'cut', afterBytes: 900 }), /broke off in the middle/],
    [
      'its tool input is nonsense',
      () => ({ blocks: [{ tool: 'postgres_blocking_tree', input: { target: 42, banana: ['yes'] } }] }),
      /made no progress/,
    ],
    [
      'it finds the cause and then proposes nothing',
      (request: MessagesRequest): ScriptedReply =>
        (request.tools ?? []).some((tool) => tool.name === 'report_no_action')
          ? { blocks: [{ text: 'Somebody should end that session.' }] }
          : blockedSessions(request),
      /stopped without a conclusion/,
    ],
    [
      'it makes its evidence up',
      diagnosing({
        blocks: [
          {
            tool: 'report_diagnosis',
            input: {
              verdict: 'cause_found',
              rootCause: 'Pid 1 is to blame.',
              confidence: 0.99,
              evidence: [
                { claim: 'Pid 1 blocks all.', toolCallIds: ['tc_neverhappened'], quote: 'pid 1 blocks' },
              ],
            },
          },
        ],
      }),
      /nothing it read carries what it said/,
    ],
  ])('because %s', async (_, scenario, words) => {
    scene.claude.play(scenario);
    const root = await scene.cause();
    await scene.inThread(root, /The model failed, the playbook goes on/);
    // The thread has the beginning of the reason, the record all of it.
    const { stdout } = await sentry(scene, ['why', /INC-\d+/.exec(textOf(root))?.[0] ?? '']);
    const said = /the model could not go on \((.*)\); the playbook took over/.exec(stdout)?.[1] ?? '';
    expect(said).toMatch(words);
    expect(said).not.toMatch(/[{}]|Error|undefined/);
    const { card } = await scene.approve(root);
    expect(textOf(card)).toMatch(/pid = \d+/);
  });
});
