import { randomUUID } from 'node:crypto';
import type { MessagesRequest, ScriptedReply } from '../../../playground/claude/scenario.ts';
import { createClaude } from '../../../src/agents/claude/create-claude.ts';
import { createAccept } from '../../../src/ingest/accept.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import type { Tool, ToolContext } from '../../../src/tools/define.ts';
import { boxesTools } from '../../support/chaos-box.ts';
import { boxAlert, boxTarget, type Core, createCore } from '../../support/core.ts';
import { domainOf } from '../../support/targets.ts';

/**
 * Boxes, each named after how far its incident has come, the tools for them and a model that investigates them. The
 * version before makes the fixture of it, and this version goes on with it: nothing is imported here that only one has.
 */
export const BOXES = [
  'open',
  'triaging',
  'diagnosing',
  'planning',
  'waiting',
  'denied',
  'approved',
  'checking',
  'claimed',
  'unknown',
  'ran',
  'verifying',
  'resolved',
  'undoable',
  'reported',
  'escalated',
  'stopped',
  'ignored',
] as const;
export type Box = (typeof BOXES)[number];

/** What differs from one incident to the next in the name of a step. */
export const ID = '(act|tc)_[a-z0-9]{12}';

/** Where work can be held: in a message of the model, by its role, or in a part of a tool. */
type Place = 'triage' | 'detective' | 'surgeon' | 'conversation' | 'preflight' | 'ran' | 'verify';
type IsHeld = (place: Place, box: string) => boolean;
const notHeld: IsHeld = () => false;

/** Of these nobody can tell by looking whether the action took effect. */
const CANNOT_TELL: readonly string[] = ['claimed', 'unknown'];

interface SceneOptions {
  readonly url: string;
  readonly claudeUrl: string;
  /** Of the boxes: the system under care. */
  readonly sql: Parameters<typeof boxesTools>[0];
  readonly isHeld?: IsHeld;
  readonly toolTimeoutMs?: number;
}

export async function createScene(options: SceneOptions): Promise<Core> {
  const tools = sceneTools(options);
  const targets = new Map(BOXES.map((name) => [name, { ...boxTarget, name }]));
  const core: Core = await createCore({
    url: options.url,
    tools,
    approvalMinutes: 60,
    gate: { targets },
    claude: createClaude({
      llm: createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'k', baseUrl: options.claudeUrl }),
        retry: { baseDelayMs: 1 },
      }),
      tools,
      targets: BOXES,
      toolCalls: async (id) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
  return { ...core, accept: createAccept(core.sql, [...targets.values()], domainOf) };
}

function sceneTools({ sql, isHeld = notHeld, toolTimeoutMs = 15_000 }: SceneOptions): readonly Tool[] {
  const hold = async (place: Place, box: string): Promise<void> => {
    if (isHeld(place, box)) await new Promise(() => undefined);
  };
  const isTried = async (box: string): Promise<boolean> =>
    (await sql`SELECT 1 FROM effect WHERE box = ${box}`).length > 0;
  const plain = boxesTools(sql, { beforeMs: () => 0, afterMs: () => 0, timeoutMs: toolTimeoutMs });
  return plain.map((tool): Tool => {
    if (tool.kind !== 'active')
      return {
        ...tool,
        timeoutMs: Math.max(tool.timeoutMs, toolTimeoutMs),
        run: async (context: ToolContext, input: unknown) => {
          if (await isTried(context.target.name)) await hold('verify', context.target.name);
          return tool.run(context, input);
        },
      };
    return {
      ...tool,
      preflight: async (context, input) => {
        await hold('preflight', context.target.name);
        return tool.preflight(context, input);
      },
      run: async (context, input, guard, deadline) => {
        const { name } = context.target;
        const outcome = await tool.run(context, input, guard, deadline);
        if (name === 'escalated') await sql`UPDATE box SET broken = true WHERE name = ${name}`;
        await hold('ran', name);
        return name === 'unknown' ? { kind: 'unknown', text: 'The connection was lost.' } : outcome;
      },
      look: async (context, input, guard) =>
        CANNOT_TELL.includes(context.target.name) ? 'cannot_tell' : tool.look(context, input, guard),
      inverse: () => ({ tool: 'box_mend', input: { how: 'the other way round' } }),
    };
  });
}

export const sceneAlert = (box: Box) =>
  boxAlert({
    name: `Box_${box}`,
    title: `Trouble at box "${box}"`,
    target: box,
    labels: { alertname: `Box_${box}`, source_type: 'database', instance: box },
  });

/** Each role reads the box once and then does its work; a held one never says its second message to the end. */
export function sceneModel(isHeld: IsHeld = notHeld): (request: MessagesRequest) => ScriptedReply {
  return (request) => {
    const { role, box, turn } = askedOf(request);
    const reply = answer(request, role, box, turn);
    return turn > 0 && isHeld(role, box) ? { ...reply, fault: { kind: 'stall', afterBytes: 0 } } : reply;
  };
}

/** By the tool that ends a role's work; a conversation ends with words. */
const REPORTS = [
  ['report_triage', 'triage'],
  ['report_diagnosis', 'detective'],
  ['report_no_action', 'surgeon'],
] as const;

/** Whom a request asks about which box, and after how many answers of its own. */
export function askedOf(request: MessagesRequest) {
  const offered = new Set((request.tools ?? []).map((tool) => tool.name));
  const role = REPORTS.find(([report]) => offered.has(report))?.[1] ?? ('conversation' as const);
  const box = /Trouble at box [^a-z]*([a-z]+)/.exec(JSON.stringify(request.messages))?.[1] ?? '';
  return { role, box, turn: request.messages.filter((message) => message.role === 'assistant').length };
}

function answer(request: MessagesRequest, role: string, box: string, turn: number): ScriptedReply {
  if (turn === 0) return { blocks: [{ tool: 'box_state', input: { target: box } }] };
  if (role === 'conversation') return { blocks: [{ text: 'It still is.' }] };
  if (role === 'triage')
    return {
      blocks: [
        {
          tool: 'report_triage',
          input: {
            severity: 'critical',
            incidentType: 'broken_box',
            routine: true,
            ignore: box === 'ignored',
            reason: 'It is a box.',
          },
        },
      ],
    };
  if (role === 'surgeon')
    return {
      blocks: [
        {
          tool: 'box_mend',
          input: {
            target: box,
            how: box === 'denied' ? 'glue' : `way-${randomUUID().slice(0, 8)}`,
            why: 'It mends the box.',
          },
        },
      ],
    };
  const id = /tc_[a-z0-9]{12}/.exec(JSON.stringify(request.messages))?.[0] ?? '';
  const isFound = box !== 'reported';
  return {
    blocks: [
      {
        tool: 'report_diagnosis',
        input: {
          verdict: isFound ? 'cause_found' : 'cannot_tell',
          rootCause: isFound ? 'The box is broken.' : 'Nobody can tell.',
          category: 'broken_box',
          confidence: 0.97,
          fixConfidence: 0.97,
          evidence: isFound
            ? [{ claim: 'The box is broken.', toolCallIds: [id], quote: 'broken: true' }]
            : [],
          remedy: 'Mend it.',
        },
      },
    ],
  };
}
