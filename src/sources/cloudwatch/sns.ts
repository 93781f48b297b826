import { createVerify } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { BadInput } from '../ports.ts';

/** An envelope of Amazon SNS (https://docs.aws.amazon.com/sns/latest/dg/http-subscription-confirmation-json.html). */
const Envelope = z.looseObject({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  Message: z.string(),
  MessageId: z.string(),
  TopicArn: z.string(),
  Timestamp: z.string(),
  Subject: z.string().nullish(),
  Token: z.string().optional(),
  SubscribeURL: z.string().optional(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string(),
  SigningCertURL: z.string(),
});
type Envelope = z.infer<typeof Envelope>;

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const HOST = /^sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/;
const CERTIFICATE = /^\/SimpleNotificationService-[a-zA-Z0-9]+\.pem$/;
const TIMEOUT_MS = 4_000;

/** By address; AWS has one for each region at a time. */
const certificates = new Map<string, string>();
const MOST_CERTIFICATES = 50;

/**
 * Checks that Amazon SNS signed this envelope, and confirms a subscription. Null: read on; what is no envelope (raw delivery,
 * EventBridge) has nothing to check but the webhook's secret.
 */
export async function receiveSns(payload: unknown, fetch: Fetch): Promise<BadInput | null> {
  if (
    payload === null ||
    typeof payload !== 'object' ||
    !('TopicArn' in payload || 'SigningCertURL' in payload)
  )
    return null;
  const parsed = Envelope.safeParse(payload);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return {
      ok: false,
      field: issue?.path.join('.') ?? '',
      reason: `no envelope of Amazon SNS: ${issue?.message}`,
    };
  }
  try {
    const envelope = parsed.data;
    const certificate = await certificateOf(envelope.SigningCertURL, fetch);
    if (!isSignedBy(envelope, certificate))
      return { ok: false, field: 'Signature', reason: 'not a signature of this envelope' };
    if (envelope.Type === 'SubscriptionConfirmation')
      await fetchText(amazon('SubscribeURL', envelope.SubscribeURL ?? ''), fetch);
    return null;
  } catch (error) {
    return {
      ok: false,
      field: error instanceof NotAmazon ? error.field : 'SigningCertURL',
      reason: messageOf(error),
    };
  }
}

function isSignedBy(envelope: Envelope, certificate: string): boolean {
  const fields =
    envelope.Type === 'Notification'
      ? (['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const)
      : (['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'] as const);
  const signed = fields.flatMap((field) =>
    envelope[field] == null ? [] : [`${field}\n${envelope[field]}\n`],
  );
  return createVerify(envelope.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
    .update(signed.join(''))
    .verify(certificate, envelope.Signature, 'base64');
}

async function certificateOf(address: string, fetch: Fetch): Promise<string> {
  const url = amazon('SigningCertURL', address);
  if (!CERTIFICATE.test(url.pathname)) throw new NotAmazon('SigningCertURL');
  const known = certificates.get(url.href);
  if (known !== undefined) return known;
  const text = await fetchText(url, fetch);
  if (certificates.size >= MOST_CERTIFICATES) certificates.clear();
  certificates.set(url.href, text);
  return text;
}

async function fetchText(url: URL, fetch: Fetch): Promise<string> {
  const response = await fetch(url.href, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url.host} answered ${response.status}`);
  return response.text();
}

/** An address that only Amazon SNS can serve. */
function amazon(field: string, address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  const isTheirs =
    url?.protocol === 'https:' &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    HOST.test(url.hostname);
  if (!isTheirs) throw new NotAmazon(field);
  return url;
}

class NotAmazon extends Error {
  readonly field: string;

  constructor(field: string) {
    super('not an address of Amazon SNS');
    this.field = field;
  }
}
