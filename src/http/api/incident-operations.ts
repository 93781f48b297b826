import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Action } from '../../core/action.ts';
import { severities } from '../../core/alert.ts';
import type { Refusal } from '../../core/errors.ts';
import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import { type Incident, incidentStates } from '../../core/incident.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { hideMerged, mergedWith } from '../../core/merged-with.ts';
import { timelineOf } from '../../incidents/questions/timeline.ts';
import { why } from '../../incidents/questions/why.ts';
import { sha256 } from '../../safety/sha256.ts';
import { incidentId, line, oneOf, pick, text, time, wholeNumber } from './fields.ts';
import { type Caller, defineOperation, ok, problem } from './operation.ts';
import type { Api } from './ports.ts';
import { IncidentDetail, IncidentPage, type IncidentSummary, OpenedIncident } from './schemas.ts';

const ROOT = '/api/v1/incidents';
/** Of those that fit, at once, and how often for one request. */
const LOOKED_AT = 100;
const MOST_PAGES = 50;
const params = z.strictObject({ incident: incidentId });

/** The same words for both: whether there is one in a private channel is its members' to know. */
const notToRead = (id: string) => problem(404, `there is no ${id} that you may read`);

const listIncidents = defineOperation({
  id: 'listIncidents',
  method: 'GET',
  path: ROOT,
  scope: 'read',
  summary: 'Lists incidents, newest first.',
  description:
    'Those that everybody of the workspace may read in Slack; with the scope `private` all of them. Go on with `next` until it is null.',
  query: z.strictObject({
    open: z
      .boolean({ error: 'expected true or false' })
      .default(false)
      .describe('Only those that have not ended.'),
    state: oneOf(incidentStates).optional(),
    severity: oneOf(severities).optional(),
    target: line(200).optional().describe('The name of a configured system.'),
    since: time.optional().describe('Opened at this time or later.'),
    limit: wholeNumber(1, 100).default(20),
    cursor: incidentId.optional().describe('`next` of the page before.'),
  }),
  response: IncidentPage,
  async handle(api, { caller, query: { cursor, ...filter } }) {
    const before = cursor === undefined ? null : asIncidentId(cursor);
    if (before !== null && (await api.records.incident(before)) === null)
      return problem(400, 'cursor: expected "next" of an earlier page, or nothing for the newest', 'cursor');
    const { incidents, ...page } = await readablePage(api, caller, { ...filter, before });
    return ok({ incidents: incidents.map((one) => summaryOf(api, one)), ...page });
  },
});

const readIncident = defineOperation({
  id: 'readIncident',
  method: 'GET',
  path: `${ROOT}/{incident}`,
  scope: 'read',
  summary: 'One incident: state, cause so far, actions with who approved them, and what happened.',
  description:
    'No output of a tool call is in it: evidence is read in Slack. `after` and `limit` page through what happened.',
  params,
  query: z.strictObject({
    after: wholeNumber(0, Number.MAX_SAFE_INTEGER)
      .default(0)
      .describe('`timeline.next` of the answer before.'),
    limit: wholeNumber(1, 200).default(100).describe('Entries of the timeline.'),
  }),
  response: IncidentDetail,
  async handle(api, { caller, params: { incident }, query }) {
    const record = await readable(api, caller, incident);
    return record === null ? notToRead(incident) : ok(await detailOf(api, record, query));
  },
});

const whyIncident = defineOperation({
  id: 'whyIncident',
  method: 'GET',
  path: `${ROOT}/{incident}/why`,
  scope: 'read',
  summary: 'Tells from the record what happened, on what evidence, what was run and who approved.',
  description:
    'As `/sentry why` does: plain lines with `*bold*` and `` `code` ``, people by name, times in UTC.',
  params,
  response: 'text',
  async handle(api, { caller, params: { incident } }) {
    const record = await readable(api, caller, incident);
    return record === null ? notToRead(incident) : ok(await api.people.withNames(`${why(record)}\n`));
  },
});

const openIncident = defineOperation({
  id: 'openIncident',
  method: 'POST',
  path: ROOT,
  scope: 'trigger',
  summary: 'Opens an incident, as `/sentry investigate` does.',
  description:
    'Its thread begins in the first alert channel, and Sentry investigates. 201: it was opened; 200: the same request came before. Send an `Idempotency-Key`, so that a request whose answer was lost can be sent again. The token is a requester of the incident and approves nothing.',
  headers: z.object({
    'idempotency-key': z
      .string()
      .regex(/^[\x21-\x7e]{1,200}$/, 'expected 1 to 200 visible ASCII characters')
      .optional()
      .describe('Requests of one token with the same key open one incident, also after a restart.'),
  }),
  body: z.strictObject({
    title: line(200, 3).describe('What is wrong, in one line.'),
    description: text(3_500).optional().describe('What else is known.'),
    target: line(200)
      .optional()
      .describe(
        'The name of a configured system; left out, the one that the words name, else the only one there is.',
      ),
    severity: oneOf(severities).default('warning'),
  }),
  response: OpenedIncident,
  others: {
    201: 'It was opened.',
    422: 'The key was sent before with another title, description or target.',
  },
  bodyLimit: 16 * 1024,
  audited: 'api.called',
  async handle(api, { caller, headers, body: { title, description, ...how } }) {
    const { principal } = caller;
    const opened = await api.createManualIncident({
      ...how,
      text: description === undefined ? title : `${title}\n${description}`,
      by: principal,
      // Whatever somebody takes for a key, it is not put on record as it stands.
      key: `${principal}:${sha256(headers['idempotency-key'] ?? randomUUID())}`,
      mayOpen: () => api.mayOpen(principal),
    });
    if (!opened.ok) return notOpened(opened);
    const { incidentId: id, target } = opened;
    const self = `${ROOT}/${id}`;
    return {
      status: opened.opened ? 201 : 200,
      headers: { location: self },
      body: { id, target, opened: opened.opened, links: { self, why: `${self}/why` } },
      incidentId: id,
    };
  },
});

function notOpened({ code, reason }: Refusal) {
  switch (code) {
    case 'NOTHING_TO_LOOK_INTO':
      return problem(400, 'title: say what is wrong, in at least 3 characters', 'title');
    case 'UNKNOWN_TARGET':
      return problem(400, `target: ${reason}`, 'target');
    case 'KEY_REUSED':
      return problem(422, `idempotency-key: ${reason}`, 'idempotency-key');
    case 'TOO_MANY_CALLS':
      return problem(429, reason);
    default:
      return problem(503, reason);
  }
}

export const incidentOperations = [listIncidents, readIncident, whyIncident, openIncident];

async function mayRead(api: Api, { scopes }: Caller, incident: Incident): Promise<boolean | 'unknown'> {
  return scopes.includes('private') || api.people.isPublic(incident);
}

/**
 * A page of those that the caller may read. `next` is one of them, or one that was only passed on the way: an incident that may not be read
 * would tell by it that it fits what was asked for.
 */
async function readablePage(
  api: Api,
  caller: Caller,
  options: Parameters<Api['records']['page']>[0],
): Promise<{
  readonly incidents: readonly Incident[];
  readonly next: IncidentId | null;
  readonly complete: boolean;
}> {
  const shown: Incident[] = [];
  let complete = true;
  let { before } = options;
  for (let n = 0; n < MOST_PAGES; n += 1) {
    const { incidents, next } = await api.records.page({ ...options, limit: LOOKED_AT, before });
    const may = await Promise.all(incidents.map((one) => mayRead(api, caller, one)));
    for (const [at, one] of incidents.entries()) {
      complete &&= may[at] !== 'unknown';
      if (may[at] === true) shown.push(one);
      if (shown.length === options.limit) return { incidents: shown, next: one.id, complete };
    }
    // A page that is not full ended at what one request looks through, whether that fits or not.
    if (next === null || incidents.length < LOOKED_AT) return { incidents: shown, next, complete };
    before = next;
  }
  return { incidents: shown, next: null, complete: false };
}

async function readable(api: Api, caller: Caller, named: string): Promise<IncidentRecord | null> {
  const record = await api.records.load(asIncidentId(named));
  if (record === null || (await mayRead(api, caller, record.incident)) !== true) return null;
  const others = await api.records.incidents(mergedWith(record.events));
  const may = await Promise.all(others.map((one) => mayRead(api, caller, one)));
  const told = new Set(others.filter((_, at) => may[at] === true).map(({ id }) => id));
  return hideMerged(record, (id) => told.has(id));
}

function summaryOf({ people }: Api, incident: Incident): z.infer<typeof IncidentSummary> {
  return {
    ...pick(incident, ['id', 'state', 'title', 'severity', 'target', 'domain', 'cause', 'confidence']),
    ...pick(incident, ['occurrences', 'members', 'membersFiring', 'resolvedBy']),
    ...pick(incident, ['openedAt', 'updatedAt', 'endedAt']),
    type: incident.incidentType,
    next: incident.nextStep,
    thread: people.threadUrl(incident),
  };
}

async function detailOf(
  api: Api,
  record: IncidentRecord,
  { after, limit }: { readonly after: number; readonly limit: number },
) {
  const { incident, actions } = record;
  const summary = summaryOf(api, incident);
  const left = timelineOf(record).filter(({ seq }) => seq > after);
  const shown = left.slice(0, limit);
  const entries = await Promise.all(
    shown.map(async (entry) => ({ ...entry, text: await api.people.withNames(entry.text) })),
  );
  const self = `${ROOT}/${incident.id}`;
  return {
    ...summary,
    ...pick(incident, ['investigator', 'round', 'verdict', 'costUsd', 'requesters', 'labels']),
    actions: actions.map(actionOf),
    timeline: { entries, next: left.length > shown.length ? (shown.at(-1)?.seq ?? null) : null },
    links: { self, why: `${self}/why`, thread: summary.thread },
  };
}

const actionOf = (action: Action) => ({
  ...pick(action, ['id', 'step', 'state', 'purpose', 'tool', 'target', 'command', 'why', 'risk']),
  ...pick(action, ['approvalsNeeded', 'approvedBy', 'decidedBy', 'decidedAt', 'decisionReason']),
  ...pick(action, ['expiresAt', 'startedAt', 'finishedAt', 'outcome']),
  plan: action.planId,
  wouldOnly: action.auditOnly,
});
