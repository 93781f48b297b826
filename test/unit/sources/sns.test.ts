import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { receiveSns } from '../../../src/sources/cloudwatch/sns.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const CERTIFICATE = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem';
const CONFIRM = 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37';

type Envelope = Record<string, string>;

const notification: Envelope = {
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms',
  Subject: 'ALARM: "orders-db CPU"',
  Message: '{"AlarmName": "orders-db CPU", "NewStateValue": "ALARM"}',
  Timestamp: '2026-03-01T12:00:00.000Z',
  SignatureVersion: '2',
  SigningCertURL: CERTIFICATE,
};
const { Subject: _none, ...plain } = notification;
const confirmation: Envelope = {
  ...plain,
  Type: 'SubscriptionConfirmation',
  Message: 'You have chosen to subscribe',
  SubscribeURL: CONFIRM,
  Token: '2336412f37',
};

/** As Amazon SNS signs: field names and values on lines of their own, in the order of the names. */
function signed(envelope: Envelope): Envelope {
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = names.flatMap((name) => (name in envelope ? [`${name}\n${envelope[name]}\n`] : [])).join('');
  const digest = envelope['SignatureVersion'] === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
  return { ...envelope, Signature: sign(digest, Buffer.from(text), privateKey).toString('base64') };
}

/** Amazon’s servers, and what was asked of them. */
function amazon(answers: Record<string, number> = {}) {
  const asked: string[] = [];
  const fetch = async (url: string, { redirect }: RequestInit): Promise<Response> => {
    asked.push(url);
    expect(redirect).toBe('error');
    const text = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    return new Response(text, { status: answers[url] ?? 200 });
  };
  return { asked, fetch };
}

test.each(['1', '2'])(
  'a notification that Amazon SNS signed is read on (version %s)',
  async (SignatureVersion) => {
    expect(await receiveSns(signed({ ...notification, SignatureVersion }), amazon().fetch)).toBeNull();
    expect(await receiveSns(signed({ ...plain, SignatureVersion }), amazon().fetch)).toBeNull();
  },
);

test.each(
  Object.keys(plain).filter((name) => !['SignatureVersion', 'SigningCertURL', 'Type'].includes(name)),
)('one whose %s was changed is refused', async (name) => {
  const forged = { ...signed(notification), [name]: 'changed' };
  expect(await receiveSns(forged, amazon().fetch)).toMatchObject({ ok: false, field: 'Signature' });
});

test('one without a signature is refused', async () => {
  expect(await receiveSns(notification, amazon().fetch)).toMatchObject({ ok: false, field: 'Signature' });
});

test.each([
  'http://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
  'https://sns.eu-west-1.amazonaws.com.example.com/SimpleNotificationService-0123456789abcdef.pem',
  'https://example.com/SimpleNotificationService-0123456789abcdef.pem',
  'https://x@sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
  'https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-0123456789abcdef.pem',
  'https://sns.eu-west-1.amazonaws.com/a-bucket/mine.pem',
  'https://a-bucket.s3.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
  'https://sns.x.y.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem',
  'nonsense',
])('no certificate is asked of %s', async (SigningCertURL) => {
  const { asked, fetch } = amazon();
  expect(await receiveSns(signed({ ...notification, SigningCertURL }), fetch)).toMatchObject({
    ok: false,
    field: 'SigningCertURL',
  });
  expect(asked).toEqual([]);
});

test('a certificate that cannot be had refuses, and is asked for again', async () => {
  const SigningCertURL = 'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-fedcba9876543210.pem';
  const envelope = signed({ ...notification, SigningCertURL });
  expect(await receiveSns(envelope, amazon({ [SigningCertURL]: 404 }).fetch)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('404'),
  });
  expect(await receiveSns(envelope, amazon().fetch)).toBeNull();
});

test('a subscription is confirmed, once its signature holds', async () => {
  const well = amazon();
  expect(await receiveSns(signed(confirmation), well.fetch)).toBeNull();
  expect(well.asked).toContain(CONFIRM);
  const forged = amazon();
  expect(await receiveSns({ ...signed(confirmation), Token: 'x' }, forged.fetch)).toMatchObject({
    ok: false,
  });
  expect(forged.asked).not.toContain(CONFIRM);
});

test('a subscription is confirmed at Amazon’s servers alone', async () => {
  const { asked, fetch } = amazon();
  const SubscribeURL = 'https://169.254.169.254/latest/meta-data';
  expect(await receiveSns(signed({ ...confirmation, SubscribeURL }), fetch)).toMatchObject({
    ok: false,
    field: 'SubscribeURL',
  });
  expect(asked).not.toContain(SubscribeURL);
});

test.each([null, 'text', [], {}, { AlarmName: 'raw delivery' }])(
  '%j is no envelope, so there is nothing to check',
  async (payload) => {
    expect(await receiveSns(payload, amazon().fetch)).toBeNull();
  },
);
