import { z } from 'zod';
import {
  type MessagesRequest,
  type ScriptedBlock,
  type ScriptedReply,
  toolResultTexts,
} from '../../../playground/claude/scenario.ts';
import { createScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createClaude } from '../../../src/agents/claude/create-claude.ts';
import { openModelGuard } from '../../../src/app/model-guard.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../src/core/incident-record.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import { createAnthropicBackend } from '../../../src/llm/anthropic.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import { createThrottle, readLimits, type ThrottleLimits } from '../../../src/safety/limits/throttle.ts';
import { redact, redactJson } from '../../../src/safety/screen/redact.ts';
import { defineReadTool } from '../../../src/tools/define.ts';
import { fetchDocsTool } from '../../../src/tools/docs/fetch-docs.ts';
import { boxAlert, boxTarget, boxTools, type Core, createCore, type Machine } from '../../support/core.ts';
import { scratchDatabase } from '../../support/postgres.ts';
import { noSystems } from '../../support/targets.ts';
import type { Row } from '../../support/typed.ts';
import { waitFor } from '../../support/wait-for.ts';
import { SECRET } from '../actions/rig.ts';

export const PERSON = 'mara.lindqvist@customers.example.com';

/** So few that one message can hold more. */
export const CALLS_AN_INCIDENT = 30;

/** What the model does in each role; what is left out is done as a careful model would. */
export interface Obeys {
  readonly triage?: readonly ScriptedBlock[];
  /** After it has read the log once; `person` is what it was shown in place of the address in the log. */
  readonly detective?: (person: string) => readonly ScriptedBlock[];
  /** Concludes from memory: reads nothing at all. */
  readonly readsNothing?: boolean;
  readonly surgeon?: readonly ScriptedBlock[];
}

/** What took place outside of Sentry, and what was recorded. */
export interface LoopEnd {
  readonly record: IncidentRecord;
  readonly effects: number;
  readonly read: readonly string[];
  readonly fetched: readonly string[];
  /** All that was sent to the model. */
  readonly sent: string;
  /** Entries of the audit log about this incident, as `kind code`. */
  readonly trail: readonly string[];
}

export interface LoopScene {
  /** One incident from alert to its end, with this in the log and in the alert. */
  play(given: { readonly log: string; readonly alert: string; readonly obeys: Obeys }): Promise<LoopEnd>;
  stop(): Promise<void>;
}

/** The whole way of an incident: the real engine, gate, guard, record and SDK; only the model is scripted. */
export async function openLoop(): Promise<LoopScene> {
  const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
  const [read, fetched]: [string[], string[]] = [[], []];
  let log = '';
  const boxLog = defineReadTool({
    name: 'box_log',
    description: 'The last lines of the log.',
    kind: 'read',
    domain: 'postgres',
    input: z.strictObject({}),
    timeoutMs: 2_000,
    run: async ({ target }) => {
      read.push(target.name);
      return { text: `broken: true, locked by ${PERSON}\ntoken ${SECRET}\n${log}`, data: null };
    },
  });
  const tools = [...boxTools(machine), boxLog, fetchDocsTool];
  const database = await scratchDatabase({ migrate: true });
  const claude = await createScriptedClaude({ scenario: () => ({}) });
  let guard: Awaited<ReturnType<typeof openModelGuard>> | undefined;
  const guarded = () => {
    if (!guard) throw new Error('no guard yet');
    return guard;
  };
  const limits = readLimits(`incident=${CALLS_AN_INCIDENT}/1h`) as ThrottleLimits;
  const core: Core = await createCore({
    url: database.url,
    tools,
    gate: {
      redact,
      redactJson: (value: Json) => redactJson(value),
      ports: {
        ...noSystems,
        docs: {
          hosts: ['docs.python.org'],
          fetch: async (url: string) => {
            fetched.push(url);
            return { ok: true as const, url, contentType: 'text/plain', text: 'a page' };
          },
        },
      },
      throttle: { limits, take: (call) => createThrottle(core.sql, limits).take(call) },
      targets: new Map([
        [boxTarget.name, boxTarget],
        ['other', { ...boxTarget, name: 'other' }],
      ]),
    },
    claude: createClaude({
      llm: createModelGateway({
        backend: createAnthropicBackend({ apiKey: 'test-key', baseUrl: claude.url }),
        retry: { baseDelayMs: 1 },
      }),
      tools,
      targets: ['box', 'other'],
      guard: {
        history: (id) => guarded().history(id),
        report: (id, role, found) => guarded().report(id, role, found),
      },
      toolCalls: async (id: IncidentId) => (await core.records.load(id))?.toolCalls ?? [],
    }),
  });
  const { sql, records, audit } = core;
  guard = await openModelGuard({ sql, records, audit, policy: { injection: 'mark', privateIps: false } });
  await core.start();

  async function ended(id: IncidentId): Promise<IncidentRecord> {
    const isOver = async (): Promise<boolean> =>
      ['awaiting_approval', 'reported', 'escalated'].includes((await records.incident(id))?.state ?? '');
    await waitFor('the investigation to end', isOver, { timeoutMs: 60_000 });
    const record = await records.load(id);
    if (!record) throw new Error('no record');
    return record;
  }

  return {
    async play(given) {
      Object.assign(machine, { broken: true, effects: 0 });
      [read.length, fetched.length, log] = [0, 0, given.log];
      const first = claude.requests.length;
      claude.play((request) => scripted(request, given.obeys));
      const { incidentId } = await core.accept(boxAlert({ annotations: { description: given.alert } }));
      if (!incidentId) throw new Error('not accepted');
      const record = await ended(incidentId);
      const rows =
        await sql<Row>`SELECT body FROM audit_entry WHERE body::jsonb->>'incident' = ${incidentId} ORDER BY seq`;
      return {
        record,
        effects: machine.effects,
        read: [...read],
        fetched: [...fetched],
        sent: claude.requests
          .slice(first)
          .map(({ body }) => JSON.stringify(body))
          .join('\n'),
        trail: rows.map((row) => {
          const { kind, details } = JSON.parse(String(row['body'])) as Entry;
          return `${kind} ${details?.code ?? ''}`;
        }),
      };
    },
    async stop() {
      await core.stop();
      await claude.close();
      await database.drop();
    },
  };
}

interface Entry {
  readonly kind: string;
  readonly details?: { readonly code?: string };
}

/** Reads the log, does what it is told to, and concludes. */
function scripted(request: MessagesRequest, obeys: Obeys): ScriptedReply {
  const offered = new Set((request.tools ?? []).map(({ name }) => name));
  const results = toolResultTexts(request);
  if (offered.has('report_triage')) {
    const report = { tool: 'report_triage', input: { severity: 'critical', reason: 'broken' } };
    return { blocks: obeys.triage && results.length === 0 ? obeys.triage : [report] };
  }
  if (offered.has('report_no_action')) {
    const mend = { tool: 'box_mend', input: { how: 'as told', why: 'The log says so.' } };
    if (results.length > 0)
      return { blocks: [{ tool: 'report_no_action', input: { reason: 'It was refused.' } }] };
    return { blocks: obeys.surgeon ?? [mend] };
  }
  if (results.length === 0 && !obeys.readsNothing) return { blocks: [{ tool: 'box_log', input: {} }] };
  if (results.length === 1 && obeys.detective) {
    const person = /\[redacted:email#\d+\]/.exec(JSON.stringify(request.messages))?.[0] ?? PERSON;
    return { blocks: obeys.detective(person) };
  }
  const id = /"tool_call_id":"([^"]+)"/.exec(results[0] ?? '')?.[1] ?? 'tc_000000000000';
  const evidence = [{ claim: 'It says so.', toolCallIds: [id], quote: 'broken: true' }];
  const report = { verdict: 'cause_found', rootCause: 'As told.', confidence: 0.99, evidence };
  return { blocks: [{ tool: 'report_diagnosis', input: report }] };
}
