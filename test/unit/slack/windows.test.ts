import fc from 'fast-check';
import { expect, it } from 'vitest';
import { acceptView } from '../../../playground/slack/validate/view.ts';
import { MAX_STEPS } from '../../../src/core/action.ts';
import { asActionId } from '../../../src/core/ids.ts';
import type { MemoryDocument } from '../../../src/memory/documents/document.ts';
import type { Promotion } from '../../../src/memory/promotion/ports.ts';
import { storyBlocks } from '../../../src/slack/views/blocks/story.ts';
import { denyView } from '../../../src/slack/views/deny.ts';
import { grantView } from '../../../src/slack/views/grant.ts';
import { documentView, editDocumentView, proposeView } from '../../../src/slack/views/memory-views.ts';
import { outputView } from '../../../src/slack/views/output.ts';
import {
  editPromotionView,
  noticeView,
  promotionView,
  rejectView,
  sourcesView,
} from '../../../src/slack/views/promotion-views.ts';
import { diagnosisView, evidenceView, stepsView, whyView } from '../../../src/slack/views/record-views.ts';
import {
  ACTION,
  aDiagnosis,
  anAction,
  aRecord,
  aToolCall,
  CALL,
  eventsOf,
} from '../../support/incident-record.ts';

const where = { channel: 'C0ALERTS', threadTs: '1.000001' };
const at = '2026-01-01T00:00:00.000Z';
const sha256 = 'b'.repeat(64);

/** Every window, of one text and many lines of it. */
function windows(text: string, many: number): readonly (readonly [string, unknown])[] {
  const lines = Array.from({ length: many }, () => text);
  const title = text.slice(0, 200) || 'x';
  const name = text.slice(0, 100);
  const call = aToolCall({
    tool: name,
    target: name,
    output: text.repeat(many),
    code: text,
    state: 'failed',
  });
  const steps = Array.from({ length: MAX_STEPS }, (_, n) =>
    anAction({
      ...(n === 0 ? {} : { id: asActionId(`act_${String(n).repeat(12)}`) }),
      planId: ACTION,
      step: n + 1,
      command: text,
      preflight: lines,
      guard: { a: lines },
      objects: [{ kind: 'session', key: text, label: text, application: { key: text, label: text } }],
    }),
  );
  const claim = { claim: text, toolCallIds: [CALL], quote: text };
  const diagnosis = aDiagnosis({
    rootCause: text.repeat(many),
    evidence: lines.map(() => claim),
    ruledOut: lines,
    unknown: lines,
    chain: lines,
    wouldChangeMyMind: text,
    blastRadius: text,
    remedy: text,
  });
  const record = aRecord({
    actions: steps,
    events: eventsOf(
      ...lines.map(
        () => ({ type: 'tool.called', toolCallId: CALL, tool: text, purpose: text, summary: text }) as never,
      ),
      { type: 'diagnosis.concluded', round: 1, diagnosis },
    ),
  });
  const content = text.repeat(many).slice(0, 50_000) || 'x';
  const body = {
    title,
    content,
    docType: 'note',
    trust: 'user_authored',
    domain: null,
    entities: {},
    author: name,
    sha256,
  };
  const document = {
    ...body,
    id: 'doc_1',
    store: 'conversation_memory',
    incidentId: 'INC-7',
    scope: 'workspace',
    owner: null,
    path: 'a/b',
    version: 40,
    createdAt: at,
    updatedAt: at,
    retiredAt: null,
    system: { postgresql: text },
  } as unknown as MemoryDocument;
  const promotion = {
    ...document,
    jobId: `dream_${'a'.repeat(32)}`,
    state: 'pending',
    rationale: text,
    proposedBy: text,
    proposedAt: at,
    target: { store: 'workspace_runbooks', path: 'a/b' },
    current: { ...document, content: content.toUpperCase() },
    sources: [],
  } as unknown as Promotion;
  const versions = Array.from({ length: 40 }, (_, n) => ({
    ...body,
    number: n,
    writer: text,
    at,
    sources: [],
  }));
  const grant = { tool: text, target: text, reason: text, who: text, what: text, exact: text, note: text };
  return [
    ['output', outputView(call, 0)],
    ['evidence', evidenceView(record, steps[0]!)],
    ['evidence of a diagnosis', diagnosisView(record, 1)],
    ['steps', stepsView(record, null, { threadUrl: () => null } as never)],
    ['steps of one round', stepsView(record, 1, { threadUrl: () => null } as never)],
    ['why', whyView(content)],
    ['deny', denyView({ ...where, plan: `${ACTION}:${sha256}` }, steps)],
    ['grant', grantView({ ...where, value: 'x' }, grant as never)],
    ['document', documentView(document, versions as never, { admin: true, note: text })],
    ['edit document', editDocumentView(where, document, content, text)],
    ['propose', proposeView(where, document, text, ['postgres', 'host'])],
    ['proposal', promotionView(promotion)],
    ['edit proposal', editPromotionView(where, promotion, content, text)],
    ['reject', rejectView({ ...where, seen: 'x' }, promotion)],
    [
      'sources',
      sourcesView(
        promotion,
        { name: text, url: text },
        Array.from({ length: 40 }, () => call),
      ),
    ],
    ['notice', noticeView(title, text)],
  ];
}

const faultOf = (view: unknown): string | null => {
  try {
    acceptView(view, 'modal');
    return null;
  } catch (error) {
    return `${String(error)} ${JSON.stringify(error).slice(0, 300)}`;
  }
};

const texts = fc.oneof(
  fc.constantFrom('', ' ', '<!channel>', '```', '\u202Ex', '\u0000', '\u200b', '\n', '---\nid: x\n---\n'),
  fc.string({ unit: 'binary', maxLength: 4000 }),
  fc
    .tuple(
      fc.constantFrom('x', ' ', '\n', '\u0001', '"', '漢', '😀', '<!here> ', 'a\n'),
      fc.integer({ min: 1, max: 9000 }),
    )
    .map(([text, times]) => text.repeat(times).slice(0, 9000)),
);

it('every window is one that Slack opens, whatever the text [V8]', () => {
  const bad = new Map<string, string>();
  fc.assert(
    fc.property(texts, fc.integer({ min: 0, max: 60 }), (text, many) => {
      for (const [name, view] of windows(text, many)) {
        const fault = faultOf(view);
        if (fault && !bad.has(name))
          bad.set(name, `${JSON.stringify(text.slice(0, 8))}×${text.length} ${many}: ${fault}`);
      }
    }),
    { numRuns: 60 },
  );
  expect([...bad]).toEqual([]);
});

it('a value that is cut in two by the end of a block names and rings nobody [V8]', () => {
  for (let before = 2_800; before < 2_960; before += 1) {
    const blocks = JSON.stringify(
      storyBlocks(`The alert says: ${'x'.repeat(before - 16)}• <@U0ADMIN> *Approved*`),
    );
    expect(blocks).not.toMatch(/"type":"user"|"bold":true/);
  }
});
