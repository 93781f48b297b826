import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  objectIn,
  type PagingAnswer,
  type PagingRequest,
  type PagingServer,
  pagingServer,
} from './paging-server.ts';

/** An alert there. One is open for each alias; creating one of a closed alert's alias opens another. */
export interface OpsgenieAlert {
  readonly id: string;
  readonly alias: string;
  status: 'open' | 'acknowledged' | 'closed';
  readonly message: string;
  /** How often it was created. */
  count: number;
  owner: string;
}

export interface FakeOpsgenie {
  readonly server: PagingServer;
  readonly key: string;
  readonly alerts: readonly OpsgenieAlert[];
  /** Requests that were accepted and failed afterwards, as `GET /v2/alerts/requests/:id` would tell. */
  readonly failed: readonly string[];
  /** Addresses of who is on call, by the schedule's name and at a moment. */
  readonly schedules: Map<string, (at: Date) => readonly string[]>;
  /** Those that are not closed. */
  open(alias: string): readonly OpsgenieAlert[];
  /** Where webhooks go from now on, the secret in a header of the integration's. */
  subscribe(url: string, secret: string): void;
  /** Webhooks wait for this. */
  until: Promise<unknown>;
  /** A person does it there; resolves with the status of each webhook's answer. */
  acknowledge(alias: string, by: string): Promise<readonly number[]>;
  unacknowledge(alias: string, by: string): Promise<readonly number[]>;
  assign(alias: string, by: string, to: string): Promise<readonly number[]>;
  close(alias: string, by: string): Promise<readonly number[]>;
  /** When all webhooks of what came by the API have been sent. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const Alert = z.object({
  message: z.string().min(1).max(130),
  alias: z.string().min(1).max(512).optional(),
  description: z.string().max(15_000).optional(),
  priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']).optional(),
  entity: z.string().max(512).optional(),
  source: z.string().max(100).optional(),
  user: z.string().max(100).optional(),
  note: z.string().max(25_000).optional(),
  tags: z.array(z.string().max(50)).max(20).optional(),
  details: z.record(z.string(), z.string()).optional(),
});
const Act = z.object({
  user: z.string().max(100).optional(),
  source: z.string().max(100).optional(),
  note: z.string().max(25_000).optional(),
});

/** Opsgenie's Alert API, its on-calls and its webhooks, as far as Sentry uses them. */
export async function fakeOpsgenie(): Promise<FakeOpsgenie> {
  const alerts: OpsgenieAlert[] = [];
  const failed: string[] = [];
  const schedules = new Map<string, (at: Date) => readonly string[]>();
  const key = randomUUID();
  let subscription: { readonly url: string; readonly secret: string } | null = null;
  const sending = new Set<Promise<number>>();

  const openOf = (alias: string) =>
    alerts.filter((alert) => alert.alias === alias && alert.status !== 'closed');

  function send(alert: OpsgenieAlert, action: string, username: string): Promise<number> {
    if (subscription === null) return Promise.resolve(0);
    const { url, secret } = subscription;
    const body = JSON.stringify(deliveryOf(alert, action, username));
    const headers = { 'content-type': 'application/json', 'x-sentry-secret': secret };
    const sent = fake.until
      .then(() => fetch(url, { method: 'POST', headers, body }))
      .then(({ status }) => status);
    sending.add(sent);
    return sent;
  }

  function create(body: Readonly<Record<string, unknown>>): string | null {
    const parsed = Alert.safeParse(body);
    if (!parsed.success) return `Request body is not processable: ${parsed.error.issues[0]?.path.join('.')}`;
    const { alias = randomUUID(), message } = parsed.data;
    const [alert] = openOf(alias);
    if (alert) alert.count += 1;
    else {
      const opened = { id: randomUUID(), alias, status: 'open' as const, message, count: 1, owner: '' };
      alerts.push(opened);
      void send(opened, 'Create', 'Alert API');
    }
    return null;
  }

  function act(alias: string, name: string, body: Readonly<Record<string, unknown>>): string | null {
    if (!Act.safeParse(body).success) return 'Request body is not processable';
    const [alert] = openOf(alias);
    const user = typeof body['user'] === 'string' ? body['user'] : 'Alert API';
    // It answers before it looks.
    if (!alert) failed.push(`${name} ${alias}: Alert does not exist`);
    else if (name === 'close') {
      alert.status = 'closed';
      void send(alert, 'Close', user);
    } else if (alert.status === 'open') {
      alert.status = 'acknowledged';
      void send(alert, 'Acknowledge', user);
    }
    return null;
  }

  function handle(request: PagingRequest): PagingAnswer {
    const given = request.headers.authorization?.replace(/^GenieKey /, '') ?? '';
    if (!/^[0-9a-f-]{36}$/.test(given)) return refused(422, 'Key format is not valid!');
    if (given !== key) return refused(401, 'Could not authenticate');
    const [, version, kind, name = '', verb] = request.url.pathname.split('/').map(decodeURIComponent);
    if (version !== 'v2') return refused(404, 'No such path');
    if (request.method === 'GET' && kind === 'schedules' && verb === 'on-calls')
      return onCalls(request, name);
    const body = objectIn(request.body);
    if (request.method !== 'POST' || kind !== 'alerts') return refused(404, 'No such path');
    if (body === null) return refused(422, 'Request body is not processable. Please check the errors.');
    const isAct = verb === 'acknowledge' || verb === 'close';
    if (name !== '' && (!isAct || request.url.searchParams.get('identifierType') !== 'alias'))
      return refused(404, 'Alert with id does not exist');
    const wrong = name === '' ? create(body) : act(name, verb ?? '', body);
    if (wrong !== null) return refused(422, wrong);
    return {
      status: 202,
      body: { result: 'Request will be processed', took: 0.1, requestId: randomUUID() },
    };
  }

  function onCalls({ url }: PagingRequest, name: string): PagingAnswer {
    const recipients = schedules.get(name);
    const date = url.searchParams.get('date') ?? '';
    if (!recipients || url.searchParams.get('scheduleIdentifierType') !== 'name')
      return refused(404, 'Schedule does not exist');
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/.test(date))
      return refused(422, 'Date is not valid');
    return {
      status: 200,
      body: {
        data: {
          _parent: { id: randomUUID(), name, enabled: true },
          onCallRecipients: recipients(new Date(date)),
        },
        took: 0.1,
        requestId: randomUUID(),
      },
    };
  }

  const server = await pagingServer(handle);
  const change = async (
    alias: string,
    action: string,
    by: string,
    to: Partial<OpsgenieAlert>,
  ): Promise<readonly number[]> =>
    Promise.all(openOf(alias).map((alert) => send(Object.assign(alert, to), action, by)));

  const fake: FakeOpsgenie = {
    server,
    key,
    alerts,
    failed,
    schedules,
    open: openOf,
    until: Promise.resolve(),
    subscribe: (url, secret) => {
      subscription = { url, secret };
    },
    acknowledge: (alias, by) => change(alias, 'Acknowledge', by, { status: 'acknowledged', owner: by }),
    unacknowledge: (alias, by) => change(alias, 'UnAcknowledge', by, { status: 'open' }),
    assign: (alias, by, to) => change(alias, 'AssignOwnership', by, { owner: to }),
    close: (alias, by) => change(alias, 'Close', by, { status: 'closed' }),
    settled: async () => {
      await Promise.allSettled(sending);
    },
    stop: async () => {
      await Promise.allSettled(sending);
      await server.stop();
    },
  };
  return fake;
}

const refused = (status: number, message: string): PagingAnswer => ({
  status,
  body: { message, took: 0.001, requestId: randomUUID() },
});

/** As https://support.atlassian.com/opsgenie/docs/opsgenie-edge-connector-alert-action-data/ shows it. */
function deliveryOf({ id, alias, message, owner }: OpsgenieAlert, action: string, username: string): object {
  const now = Date.now();
  return {
    source: { name: '', type: username === 'Alert API' ? 'API' : 'web' },
    alert: {
      updatedAt: now * 1_000_000,
      tags: ['sentry'],
      message,
      username,
      alertId: `${id}-${now}`,
      source: 'Sentry',
      alias,
      tinyId: '23',
      createdAt: now,
      userId: randomUUID(),
      entity: '',
      ...(owner === '' ? {} : { owner }),
    },
    action,
    integrationId: randomUUID(),
    integrationName: 'Sentry',
  };
}
