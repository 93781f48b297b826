import { isPlaceholder } from '../randomness.ts';
import type { Rule } from '../rule.ts';

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const word = (...lengths: readonly (number | string)[]) =>
  lengths.map((length) => `[a-z0-9]{${length}}`).join('|');
const dashed = (...lengths: readonly (number | string)[]) =>
  lengths.map((length) => `[a-z0-9=_-]{${length}}`).join('|');
const hex = (...lengths: readonly number[]) => lengths.map((length) => `[a-f0-9]{${length}}`).join('|');

/**
 * Services whose keys have no prefix: the service's name beside the value, and the value's shape (MessageBird and New Relic are
 * written with and without a separator, so by their second word; Private AI by its first). Shapes (any case) from
 * the services' documentation as gitleaks (rule of the same name) and detect-secrets (IBM's) write them.
 */
const shapes: Readonly<Record<string, string>> = {
  adafruit: dashed(32),
  adobe: hex(32),
  airtable: word(17),
  algolia: word(32),
  alibaba: word(30),
  artifactory: word(64, 73),
  asana: `[0-9]{16}|${word(32)}`,
  atlassian: word(24),
  bintray: word(64, 73),
  bitbucket: `${word(32)}|${dashed(64)}`,
  bittrex: word(32),
  cloudant: `${hex(64)}|[a-z]{24}`,
  cloudflare: `${dashed(40)}|${hex(37)}`,
  codecov: word(32),
  cohere: word(40),
  coinbase: dashed(64),
  confluence: word(24),
  confluent: word(16, 64),
  contentful: dashed(43),
  datadog: word(32, 40),
  discord: `${hex(64)}|[0-9]{17,19}|${dashed(32)}`,
  droneci: word(32),
  dropbox: `${word(15)}|[a-z0-9]{11}AAAAAAAAAA[a-z0-9=_-]{43}`,
  etsy: word(24),
  facebook: hex(32),
  fastly: dashed(32),
  finicity: `${hex(32)}|${word(20)}`,
  finnhub: word(20),
  flickr: word(32),
  freshbooks: word(64),
  gitter: dashed(40),
  heroku: uuid,
  hubspot: uuid,
  ibm: dashed(44, 48),
  intercom: dashed(60),
  jfrog: word(64, 73),
  jira: word(24),
  kraken: '[a-z0-9/=_+-]{80,90}',
  kucoin: `${hex(24)}|${uuid}`,
  launchdarkly: dashed(40),
  linear: hex(32),
  linkedin: word(14, 16),
  looker: word(20, 24),
  mailgun: '[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}',
  mattermost: word(26),
  meraki: hex(40),
  bird: `${word(25)}|${uuid}`,
  netlify: dashed('40,46'),
  relic: word(64),
  nytimes: dashed(32),
  okta: '00[a-z0-9_=-]{40}',
  plaid: word(24, 30),
  private: word(32),
  rapidapi: dashed(50),
  sendbird: `${uuid}|${hex(40)}`,
  sentry: hex(64),
  snyk: uuid,
  softlayer: word(64),
  sonar: dashed(40),
  squarespace: uuid,
  sumo: `su[a-z0-9]{12}|${word(64)}`,
  telegr: '[0-9]{5,16}:A[a-z0-9_-]{34}',
  travis: word(22),
  twitch: word(30),
  twitter: `${word(25, 45, 50)}|[0-9]{15,25}-[a-z0-9]{20,40}|A{22}[a-z0-9%]{80,100}`,
  xray: word(64, 73),
  zendesk: word(40),
};

const secretWord = /token|key|secret|auth|pass|pwd|api|credential|access|client|login|account|_id|Id\b/i;

function named(name: string, shape: string): Rule {
  const exact = new RegExp(`^(?:${shape})$`, 'i');
  return {
    id: `${name.replace(/[-_]/g, '')}-key-by-name`,
    category: 'vendor_token',
    source:
      'gitleaks, the rule of this service; detect-secrets cloudant, softlayer, ibm_cloud_iam, ibm_cos_hmac',
    hints: [name],
    pattern: new RegExp(
      String.raw`${name}[\w .-]{0,32}\\?["'\`\]]{0,2}(?:\s{0,3}(?:[:|?]{0,3}=>?|:|>)|,|\s(?=["'])|(?<=-(?:key|token|secret))\s)\s{0,8}\\?["'\`=]{0,3}([A-Za-z0-9_=.|/+:%-]{14,130})`,
      'diy',
    ),
    check: ({ text, at, start, secret }) =>
      exact.test(secret) &&
      (name === 'cloudant' || !/^[a-z_=-]+$/i.test(secret)) &&
      !isPlaceholder(secret) &&
      // A name alone may stand beside a digest or an identifier of something else.
      secretWord.test(text.slice(at + name.length, start)),
  };
}

export const vendorNameRules: readonly Rule[] = Object.entries(shapes).map(([name, shape]) =>
  named(name, shape),
);
