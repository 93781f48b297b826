import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { MessagesRequest, ScriptedReply } from '../../../../playground/claude/scenario.ts';
import type { OfferedTool } from '../../../../src/agents/claude/role-tools.ts';
import type { Diagnosis, Triage } from '../../../../src/core/diagnosis.ts';
import { asToolCallId } from '../../../../src/core/ids.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { INCIDENT, type InvestigationRig, startInvestigation, TOOLS } from './investigation-rig.ts';
import { firstTurn, offers } from './several-detectives.ts';

/** Leads and specialists that mean no good, or do nothing: what they say rules nothing in or out, and holds nobody up. */
let rig: InvestigationRig;
afterEach(async () => {
  vi.restoreAllMocks();
  rig.claude.release();
  await rig.claude.close();
});

const TRIAGED: Triage = {
  severity: 'critical',
  incidentType: null,
  routine: false,
  ignore: false,
  reason: 'x',
};
const CAUSES = ['a session holds a lock', 'the disk is full'];
const NAMED = { explanations: CAUSES.map((cause) => ({ cause, disproved_by: 'a read' })) };
const DOCS: OfferedTool = {
  name: 'fetch_docs',
  kind: 'docs',
  description: 'Reads a page.',
  input: z.strictObject({}),
};

const says = (tool: string, input: object): ScriptedReply => ({ blocks: [{ tool, input }] });
const askedFor = (tool: string): readonly MessagesRequest[] =>
  rig.claude.requests
    .map(({ body }) => body as unknown as MessagesRequest)
    .filter((body) => offers(body, tool));
const isFirst = ({ messages }: MessagesRequest): boolean => messages.length === 1;

async function start(
  test: (request: MessagesRequest) => ScriptedReply,
  lead: object = NAMED,
  more: Parameters<typeof startInvestigation>[2] = {},
): Promise<void> {
  const scenario = (request: MessagesRequest): ScriptedReply => {
    if (offers(request, 'report_explanations')) return says('report_explanations', lead);
    if (offers(request, 'report_test')) return test(request);
    return says('report_diagnosis', {
      verdict: 'cause_found',
      rootCause: 'Pid 4711 blocks eight sessions.',
      confidence: 0.9,
      evidence: [{ claim: 'c', toolCallIds: ['tc_000000000001'], quote: 'pid 4711' }],
    });
  };
  rig = await startInvestigation(scenario, undefined, { tools: [...TOOLS, DOCS], ...more });
  const { callTool } = rig.work;
  rig = {
    ...rig,
    work: {
      ...rig.work,
      incident: { ...INCIDENT, effort: 'full' },
      callTool: async (request, ...rest) =>
        request.tool === DOCS.name
          ? {
              kind: 'ok',
              toolCallId: asToolCallId('tc_00000000d0c5'),
              text: 'a page',
              data: null,
              truncated: false,
            }
          : callTool(request, ...rest),
    },
  };
}

const diagnosed = (): Promise<Diagnosis> => rig.investigator.diagnose(rig.work, TRIAGED);
const weighed = (): string => firstTurn(askedFor('report_diagnosis')[0] as MessagesRequest);

/** What it reads before it reports, and the call that it then cites. */
const UNREAD: readonly (readonly [how: string, reads: string | null, cites: (last: string) => string[]])[] = [
  ['nothing read', null, () => []],
  ['a call that never was', null, () => ['tc_0000000beef0']],
  ['what the first look has shown', null, () => ['tc_000000000001']],
  ['a read that was refused', 'postgres_nonsense', (last) => [last]],
  ['a page of documentation', DOCS.name, (last) => [last]],
  ['a read of its own that it cites not', 'postgres_blocking_tree', () => []],
];

describe('what a test says', () => {
  it.each(UNREAD.flatMap((each) => ['disproved', 'stands'].map((end) => [end, ...each] as const)))(
    '“%s” by %s counts as not tested',
    async (end, _, reads, cites) => {
      await start((request) => {
        if (reads !== null && isFirst(request)) return says(reads, {});
        const last = /"tool_use_id":"([^"]+)"/.exec(JSON.stringify(request.messages.at(-1)))?.[1] ?? '';
        const evidence = [{ claim: 'So it is.', toolCallIds: cites(last), quote: 'root: pid 4711' }];
        return says('report_test', { end, says: 'Believe me.', evidence });
      });
      expect((await diagnosed()).unknown).toEqual(
        CAUSES.map((cause) => `Not tested (nothing was read for it): ${cause}`),
      );
      expect(weighed()).not.toContain('Believe me.');
      // Nobody is told that somebody has tested them.
      expect(weighed()).toContain('Find the cause');
    },
  );

  it('that it does not know needs no read', async () => {
    await start(() => says('report_test', { end: 'open', says: 'It could not be read.' }));
    expect((await diagnosed()).unknown).toEqual([]);
    expect(weighed()).toContain('It could not be read.');
  });

  it.each([
    ['nothing', {}],
    ['no words', { end: 'disproved' }],
    ['numbers', { end: 5, says: 7, evidence: 'x', unknown: 3 }],
    ['odd evidence', { end: 'disproved', says: 'x', evidence: [{ toolCallIds: { a: 1 } }, null, 5] }],
    ['a list', { report: [] }],
  ])('in no shape, %s, holds nobody up', async (_, report) => {
    await start(() => says('report_test', report));
    const { rootCause, unknown } = await diagnosed();
    expect(rootCause).toBe('Pid 4711 blocks eight sessions.');
    expect(unknown.filter((gap) => gap.startsWith('Not tested'))).toHaveLength(CAUSES.length);
  });
});

it('a read that is under way when a test’s time is over ends with it', async () => {
  const limits: AbortController[] = [];
  const real = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    if (ms !== 54_321) return real(ms);
    const limit = new AbortController();
    limits.push(limit);
    return limit.signal;
  });
  await start(() => says('postgres_long_transactions', {}), NAMED, { testMs: 54_321 });
  const reading: (AbortSignal | undefined)[] = [];
  const { callTool } = rig.work;
  rig = {
    ...rig,
    work: {
      ...rig.work,
      callTool: async (request, why, signal) => {
        // The first look is the turn’s own.
        if (signal === undefined || signal === rig.work.signal) return callTool(request, why, signal);
        reading.push(signal);
        return new Promise(() => undefined);
      },
    },
  };
  const found = diagnosed();
  await waitFor('both to read', async () => reading.length === CAUSES.length);
  expect(reading.map((signal) => signal?.aborted)).toEqual([false, false]);
  // After the lead’s, the first test’s; the other goes on.
  limits[1]?.abort(new DOMException('its time is over', 'TimeoutError'));
  await expect.poll(() => reading.map((signal) => signal?.aborted)).toEqual([true, false]);
  limits[2]?.abort(new DOMException('its time is over', 'TimeoutError'));
  expect((await found).unknown).toEqual(CAUSES.map((cause) => `Not tested (no answer in time): ${cause}`));
});

it('many reads at once are no leak', async () => {
  const warned: string[] = [];
  const hear = (warning: Error): void => void warned.push(warning.name);
  process.on('warning', hear);
  try {
    await start((request) =>
      isFirst(request)
        ? {
            blocks: Array.from({ length: 15 }, (_, limit) => ({
              tool: 'postgres_long_transactions',
              input: { limit },
            })),
          }
        : says('report_test', { end: 'open', says: 'x' }),
    );
    await diagnosed();
    // Warnings are told in a turn of their own.
    await new Promise(setImmediate);
    expect(warned).toEqual([]);
  } finally {
    process.off('warning', hear);
  }
});

const huge = 'x '.repeat(2_000);
describe('a lead that', () => {
  it.each([
    ['names what is no list', { explanations: 'it is the disk' }],
    ['names nothing of sense', { explanations: [{}, null, 7, { cause: ' ', disproved_by: 'x' }] }],
    ['names one thing twice', { explanations: ['The disk is full!', 'the disk is full'].map(named) }],
    ['says nothing at all', {}],
  ])('%s leads nobody', async (_, lead) => {
    await start(() => says('report_test', {}), lead);
    expect((await diagnosed()).unknown).toEqual([]);
    expect(askedFor('report_test')).toEqual([]);
  });

  it('names forty things, each of thousands of words, has four tested in short', async () => {
    const forty = { explanations: Array.from({ length: 40 }, (_, nth) => named(`${nth} ${huge}`)) };
    await start(() => says('report_test', { end: 'open', says: huge }), forty);
    const { unknown } = await diagnosed();
    expect(askedFor('report_test')).toHaveLength(4);
    expect(unknown).toHaveLength(2);
    for (const gap of unknown) expect(gap.length).toBeLessThanOrEqual(600);
    for (const told of rig.said) expect(told?.length ?? 0).toBeLessThan(1_000);
    for (const request of [...askedFor('report_test'), ...askedFor('report_diagnosis')].filter(isFirst))
      expect(firstTurn(request).length).toBeLessThan(20_000);
  });
});

function named(cause: string): object {
  return { cause, disproved_by: 'a read' };
}
