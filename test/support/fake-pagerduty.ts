import { createHmac, randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  objectIn,
  type PagingAnswer,
  type PagingRequest,
  type PagingServer,
  pagingServer,
} from './paging-server.ts';

/** An incident there. One is open for each key; a trigger of a resolved one's key opens another. */
export interface PagerDutyIncident {
  readonly id: string;
  readonly number: number;
  readonly key: string;
  status: 'triggered' | 'acknowledged' | 'resolved';
  title: string;
  /** How often it was triggered. */
  triggers: number;
  assignee: string;
}

/** Of a schedule; null: without beginning, without end. */
export interface OnCallTurn {
  readonly name: string;
  readonly email: string;
  readonly start: string | null;
  readonly end: string | null;
}

export interface FakePagerDuty {
  readonly server: PagingServer;
  readonly integrationKey: string;
  readonly apiKey: string;
  readonly incidents: readonly PagerDutyIncident[];
  /** By the schedule's id. */
  readonly schedules: Map<string, readonly OnCallTurn[]>;
  /** Those that are not resolved. */
  open(key: string): readonly PagerDutyIncident[];
  /** Where v3 webhooks go from now on, signed with the secret. */
  subscribe(url: string, secret: string): void;
  /** A person does it there; resolves with the status of each webhook's answer. */
  acknowledge(key: string, by: string): Promise<readonly number[]>;
  unacknowledge(key: string): Promise<readonly number[]>;
  reassign(key: string, by: string, to: string): Promise<readonly number[]>;
  resolve(key: string, by: string): Promise<readonly number[]>;
  /** When all webhooks of what came by the Events API have been sent. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const Event = z.discriminatedUnion('event_action', [
  z.object({
    event_action: z.literal('trigger'),
    dedup_key: z.string().max(255).optional(),
    payload: z.object({
      summary: z.string().min(1).max(1024),
      source: z.string().min(1),
      severity: z.enum(['critical', 'error', 'warning', 'info']),
      custom_details: z.record(z.string(), z.unknown()).optional(),
    }),
    links: z.array(z.object({ href: z.url(), text: z.string().optional() })).optional(),
  }),
  z.object({
    event_action: z.enum(['acknowledge', 'resolve']),
    dedup_key: z.string().min(1).max(255),
  }),
]);

/** PagerDuty's Events API v2, its on-calls and its v3 webhooks, as far as Sentry uses them. */
export async function fakePagerDuty(): Promise<FakePagerDuty> {
  const incidents: PagerDutyIncident[] = [];
  const schedules = new Map<string, readonly OnCallTurn[]>();
  const [integrationKey, apiKey] = [randomUUID().replaceAll('-', ''), 'u+of-a-test-PagerDuty'];
  let subscription: { readonly url: string; readonly secret: string } | null = null;
  const sending = new Set<Promise<number>>();
  const integration = { type: 'inbound_integration_reference', summary: 'Events API v2' };

  const openOf = (key: string) =>
    incidents.filter((incident) => incident.key === key && incident.status !== 'resolved');

  function send(incident: PagerDutyIncident, type: string, agent: object | null): Promise<number> {
    if (subscription === null) return Promise.resolve(0);
    const { url, secret } = subscription;
    const body = JSON.stringify({ event: eventOf(incident, type, agent) });
    const sent = fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-pagerduty-signature': `v1=${createHmac('sha256', secret).update(body).digest('hex')}`,
      },
      body,
    }).then(({ status }) => status);
    sending.add(sent);
    return sent;
  }

  function enqueue({ body }: PagingRequest): PagingAnswer {
    const event = objectIn(body);
    if (event === null || body.length > 512 * 1024) return invalid('Invalid JSON');
    if (event['routing_key'] !== integrationKey) return invalid('Invalid routing key');
    const parsed = Event.safeParse(event);
    if (!parsed.success) return invalid(`'${parsed.error.issues[0]?.path.join('.')}' is missing or invalid`);
    const key = parsed.data.dedup_key ?? randomUUID();
    const [incident] = openOf(key);
    if (parsed.data.event_action === 'trigger') trigger(key, parsed.data.payload.summary, incident);
    // What is of no open incident is dropped without a word.
    else if (incident && parsed.data.event_action === 'resolve') {
      incident.status = 'resolved';
      void send(incident, 'incident.resolved', integration);
    } else if (incident && incident.status === 'triggered') {
      incident.status = 'acknowledged';
      void send(incident, 'incident.acknowledged', integration);
    }
    return { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: key } };
  }

  function trigger(key: string, title: string, incident: PagerDutyIncident | undefined): void {
    if (incident) {
      incident.triggers += 1;
      return;
    }
    const number = incidents.length + 1;
    const id = `Q${String(number).padStart(13, '0')}`;
    const opened = { id, number, key, status: 'triggered' as const, title, triggers: 1, assignee: 'Olivia' };
    incidents.push(opened);
    void send(opened, 'incident.triggered', integration);
  }

  function onCalls({ url, headers }: PagingRequest): PagingAnswer {
    if (headers.authorization !== `Token token=${apiKey}`)
      return { status: 401, body: { error: { code: 2006, message: 'Unauthorized' } } };
    const ids = url.searchParams.getAll('schedule_ids[]');
    const [since, until] = ['since', 'until'].map((name) => Date.parse(url.searchParams.get(name) ?? ''));
    if (since === undefined || until === undefined || !(since < until))
      return { status: 400, body: { error: { code: 2001, message: 'Invalid Input Provided' } } };
    if (!ids.every((id) => schedules.has(id)))
      return { status: 404, body: { error: { code: 2100, message: 'Not Found' } } };
    const withUsers = url.searchParams.getAll('include[]').includes('users');
    const turns = ids.flatMap((id) => schedules.get(id) ?? []);
    const oncalls = turns
      .filter(({ start, end }) => (!start || Date.parse(start) < until) && (!end || Date.parse(end) > since))
      // Of two escalation policies.
      .flatMap((turn) => [turn, turn])
      .map(({ name, email, start, end }, at) => ({
        escalation_level: 1 + (at % 2),
        start,
        end,
        user: {
          id: `P${name.toUpperCase()}`,
          type: withUsers ? 'user' : 'user_reference',
          summary: name,
          ...(withUsers ? { name, email } : {}),
        },
      }));
    return { status: 200, body: { oncalls, limit: 100, offset: 0, more: false, total: null } };
  }

  const server = await pagingServer((request) => {
    const asked = `${request.method} ${request.url.pathname}`;
    if (asked === 'POST /v2/enqueue') return enqueue(request);
    if (asked === 'GET /oncalls') return onCalls(request);
    return { status: 404, body: { error: { code: 2100, message: 'Not Found' } } };
  });

  const change = async (
    key: string,
    type: string,
    by: string | null,
    to: Partial<PagerDutyIncident>,
  ): Promise<readonly number[]> =>
    Promise.all(
      openOf(key).map((incident) =>
        send(Object.assign(incident, to), type, by === null ? null : { type: 'user_reference', summary: by }),
      ),
    );

  return {
    server,
    integrationKey,
    apiKey,
    incidents,
    schedules,
    open: openOf,
    subscribe: (url, secret) => {
      subscription = { url, secret };
    },
    acknowledge: (key, by) => change(key, 'incident.acknowledged', by, { status: 'acknowledged' }),
    unacknowledge: (key) => change(key, 'incident.unacknowledged', null, { status: 'triggered' }),
    reassign: (key, by, to) => change(key, 'incident.reassigned', by, { assignee: to, status: 'triggered' }),
    resolve: (key, by) => change(key, 'incident.resolved', by, { status: 'resolved' }),
    settled: async () => {
      await Promise.allSettled(sending);
    },
    stop: async () => {
      await Promise.allSettled(sending);
      await server.stop();
    },
  };
}

const invalid = (error: string): PagingAnswer => ({
  status: 400,
  body: { status: 'invalid event', message: 'Event object is invalid', errors: [error] },
});

/** As https://developer.pagerduty.com/docs/webhooks-overview shows it. */
function eventOf(
  { id, number, key, status, title, assignee }: PagerDutyIncident,
  type: string,
  agent: object | null,
): object {
  return {
    id: randomUUID(),
    event_type: type,
    resource_type: 'incident',
    occurred_at: new Date().toISOString(),
    agent,
    client: null,
    data: {
      id,
      type: 'incident',
      self: `https://api.pagerduty.com/incidents/${id}`,
      html_url: `https://example.pagerduty.com/incidents/${id}`,
      number,
      status,
      incident_key: key,
      created_at: new Date().toISOString(),
      title,
      service: { id: 'PF9KMXH', type: 'service_reference', summary: 'on-call' },
      assignees: status === 'resolved' ? [] : [{ id: 'PTUXL6G', type: 'user_reference', summary: assignee }],
      escalation_policy: { id: 'PUS0KTE', type: 'escalation_policy_reference', summary: 'Default' },
      teams: [],
      priority: null,
      urgency: 'high',
      conference_bridge: null,
      resolve_reason: null,
    },
  };
}
