import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { quantile, readIncident, runProduct } from './running-product.ts';

/** Far enough apart that Slack's one message a second and channel holds nobody up. */
const ALERT_EVERY_MS = 6_000;
const SAMPLES = 12;

export interface OverheadResult {
  readonly bench: 'overhead';
  /** From the 202 to the first reply in the incident's thread, ms. */
  readonly firstThreadMessage: { readonly samples: number; readonly p50Ms: number; readonly p95Ms: number };
  /** The same two messages (root and reply) posted by nobody but fetch, one after the other, in the same run. */
  readonly baselineTwoPostsP50Ms: number;
  readonly ratio: number;
  /** One *blocked sessions* incident, approved as soon as the card stands. */
  readonly incident: {
    readonly wallMs: number;
    readonly toolMs: number;
    /** Until the scripted person pressed *Approve*. */
    readonly personMs: number;
    /** wallMs − toolMs − personMs: Sentry's own time with the runbook's waits and the verification's holding time. */
    readonly restMs: number;
  };
}

interface Message {
  readonly ts: string;
  readonly thread_ts?: string;
  readonly text?: string;
  readonly channel?: string;
  readonly blocks?: readonly {
    readonly block_id?: string;
    readonly elements?: readonly { readonly action_id?: string }[];
  }[];
}

export async function benchOverhead(dataDir: string): Promise<OverheadResult> {
  const product = await runProduct(dataDir);
  try {
    const baseline = await twoPosts(product.pageUrl);
    const first = await firstThreadMessages(product);
    const incident = await wholeIncident(product, dataDir);
    const p50Ms = quantile(first, 0.5);
    return {
      bench: 'overhead',
      firstThreadMessage: { samples: first.length, p50Ms, p95Ms: quantile(first, 0.95) },
      baselineTwoPostsP50Ms: baseline,
      ratio: Math.round((p50Ms / baseline) * 100) / 100,
      incident,
    };
  } finally {
    await product.stop();
  }
}

async function firstThreadMessages({
  httpUrl,
  pageUrl,
}: {
  readonly httpUrl: string;
  readonly pageUrl: string;
}): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < SAMPLES; n += 1) {
    const name = `BenchOverhead${n}`;
    const answer = await fetch(`${httpUrl}/webhooks/alertmanager`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alertPayload(name)),
    });
    const accepted = performance.now();
    if (answer.status !== 202) throw new Error(`the webhook answered ${answer.status}`);
    await untilMessage(pageUrl, (all) => {
      const root = all.find((message) => message.text?.includes(name));
      return root && all.find((message) => message.thread_ts === root.ts && message.ts !== root.ts);
    });
    took.push(performance.now() - accepted);
    await sleep(ALERT_EVERY_MS);
  }
  return took;
}

async function wholeIncident(
  { pageUrl }: { readonly pageUrl: string },
  dataDir: string,
): Promise<OverheadResult['incident']> {
  await control(pageUrl, 'act/fault.cause', { userId: 'U0ONCALL', id: 'blocked_sessions' });
  const card = await untilMessage(
    pageUrl,
    (all) => all.find((message) => message.text?.includes(' asks: ')),
    60_000,
  );
  const id = /INC-\d+/.exec(card.text ?? '')?.[0] ?? '';
  await control(pageUrl, 'act/block.action', { userId: 'U0ONCALL', ...approveButton(card) });
  await untilMessage(
    pageUrl,
    (all) => all.find((message) => message.text?.includes(`${id}: 🟢 Fixed ·`)),
    60_000,
  );
  const record = incidentRecord.parse(JSON.parse(await readIncident(dataDir, id)));
  const span = (from: string | null, to: string | null): number =>
    Date.parse(to ?? '') - Date.parse(from ?? '');
  const wallMs = span(record.incident.openedAt, record.incident.endedAt);
  const toolMs = record.toolCalls.reduce((sum, call) => sum + span(call.startedAt, call.finishedAt), 0);
  const personMs = record.actions.reduce(
    (sum, one) => sum + (one.decidedAt ? span(one.proposedAt, one.decidedAt) : 0),
    0,
  );
  return { wallMs, toolMs, personMs, restMs: wallMs - toolMs - personMs };
}

/** Where the *Approve* button of a card is, as a person's click names it. */
function approveButton(card: Message): object {
  const block = card.blocks?.find((one) => one.elements?.some(isApprove));
  const element = block?.elements?.find(isApprove);
  return {
    container: { type: 'message', channel: card.channel, ts: card.ts },
    block_id: block?.block_id,
    action_id: element?.action_id,
    input: { kind: 'press' },
  };
}

const isApprove = (element: { readonly action_id?: string }): boolean =>
  element.action_id?.includes('approve') === true;

const incidentRecord = z.object({
  incident: z.object({ openedAt: z.string(), endedAt: z.string().nullable() }),
  toolCalls: z.array(z.object({ startedAt: z.string(), finishedAt: z.string() })),
  actions: z.array(z.object({ proposedAt: z.string(), decidedAt: z.string().nullable() })),
});

async function twoPosts(pageUrl: string): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const begun = performance.now();
    await postAsApp(pageUrl);
    await postAsApp(pageUrl);
    took.push(performance.now() - begun);
    await sleep(3_000);
  }
  return quantile(took, 0.5);
}

/** In a channel that is no alert channel, so that nobody reads it as an alert. */
async function postAsApp(pageUrl: string): Promise<void> {
  await control(pageUrl, 'post-as-app', { kind: 'modern', channel: 'C0GENERAL', text: 'bench' });
}

async function untilMessage(
  pageUrl: string,
  find: (messages: readonly Message[]) => Message | undefined,
  timeoutMs = 20_000,
): Promise<Message> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { messages } = (await control(pageUrl, 'messages', {})) as {
      readonly messages: readonly Message[];
    };
    const found = find(messages);
    if (found) return found;
    if (performance.now() > deadline) throw new Error('the message did not come');
    await sleep(5);
  }
}

async function control(pageUrl: string, name: string, body: object): Promise<unknown> {
  const answer = await fetch(`${pageUrl}/control/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const said = (await answer.json()) as { readonly ok?: boolean; readonly reason?: string };
  if (said.ok !== true) throw new Error(`${name}: ${JSON.stringify(said)}`);
  return said;
}

function alertPayload(name: string): object {
  return {
    version: '4',
    status: 'firing',
    receiver: 'sentry',
    externalURL: 'http://alertmanager:9093',
    groupKey: name,
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    alerts: [
      {
        status: 'firing',
        labels: { alertname: name, severity: 'info', instance: 'shop-db:5432', source_type: 'database' },
        annotations: { summary: 'Measured, not real' },
        startsAt: new Date().toISOString(),
        endsAt: '0001-01-01T00:00:00Z',
      },
    ],
  };
}
