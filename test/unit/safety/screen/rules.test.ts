import { describe, expect, test } from 'vitest';
import { createMatcher } from '../../../../src/safety/screen/matcher.ts';
import { findSecrets } from '../../../../src/safety/secrets/find-secrets.ts';
import { secretRules } from '../../../../src/safety/secrets/rules.ts';
import { ruleCases } from './rule-cases.ts';
import { synthetic, tooShort } from './synthetic.ts';

const byHand = secretRules.filter(({ id }) => !id.endsWith('-key-by-name'));

test('every rule has its cases, and no case is without its rule', () => {
  expect(Object.keys(ruleCases).toSorted()).toEqual(byHand.map(({ id }) => id).toSorted());
  expect(new Set(secretRules.map(({ id }) => id)).size).toBe(secretRules.length);
});

describe.each(byHand)('$id', (rule) => {
  const match = createMatcher([rule]);
  const { finds, leaves } = ruleCases[rule.id] ?? { finds: [] };

  test('finds what it is for', () => {
    expect(finds.length).toBeGreaterThan(0);
    for (const shape of finds) {
      expect(match(synthetic(shape)), synthetic(shape)).not.toEqual([]);
      expect(findSecrets(`before ${synthetic(shape)} after`), shape).not.toEqual([]);
    }
  });

  test('leaves what only looks like it', () => {
    for (const text of leaves === undefined ? finds.map(tooShort) : leaves.map(synthetic))
      expect(match(text), text).toEqual([]);
  });

  test('says where it comes from, and begins where its hint stands', () => {
    expect(rule.source.length).toBeGreaterThan(5);
    expect(rule.pattern.sticky).toBe(true);
    for (const hint of rule.hints) expect(hint).toBe(hint.toLowerCase());
  });
});

test.each([
  ['datadog', 'DATADOG_API_KEY={l32}'],
  ['meraki', "merakiToken = '{h40}'"],
  ['heroku', 'HEROKU_API_KEY: {h8}-{h4}-{h4}-{h4}-{h12}'],
  ['discord', 'discord_client_id = "{d18}"'],
  ['relic', 'new-relic_token: {l64}'],
  ['okta', '"oktaToken" => "00{s40}"'],
  ['cloudant', 'cloudant_key = "{a24}"'],
  ['softlayer', '--softlayer-api-key "{l64}"'],
])('finds the key of %s by the name beside it', (_, shape) => {
  expect(findSecrets(synthetic(shape))).toHaveLength(1);
});

test.each([
  'digest of cloudflare/cloudflared: sha256:{h64}',
  'commit {h40} in jira-exporter',
  'containerd://{h64}',
  'traceID={h32} uid={h8}-{h4}-{h4}-{h4}-{h12}',
  'golang.org/x/sys v0.0.0 h1:{b43}=',
  'https://docs.example.com/document/d/{s44}/edit',
])('leaves identifiers and digests alone: %s', (shape) => {
  expect(findSecrets(synthetic(shape))).toEqual([]);
});

test('finds a random string of forty characters and more by its entropy alone', () => {
  expect(findSecrets(synthetic('String #1: "{s80}"'))).toMatchObject([
    { rule: 'high-entropy', category: 'high_entropy' },
  ]);
  expect(findSecrets(synthetic('String #1: "{s36}"'))).toEqual([]);
});

test.each(['M{w23}.{w6}.{w27}', 'N{w25}.{w6}.{w38}'])('finds a Discord token: %s', (shape) => {
  expect(findSecrets(synthetic(shape))).toMatchObject([{ rule: 'discord-token' }]);
  expect(findSecrets('MyApplicationLoggerFactory.create.withTheNameOfTheApplication')).toEqual([]);
});

test('finds every value of a Kubernetes Secret, whichever way its fields stand', () => {
  const secret = `apiVersion: v1\ndata:\n  user: ${synthetic('{w12}')}\n  tls.key: |\n    ${synthetic('{b60}')}\nkind: Secret\nmetadata:\n  name: db`;
  expect(findSecrets(secret)).toHaveLength(2);
  expect(
    findSecrets(secret.replace('Secret', 'ConfigMap').replaceAll(/[A-Za-z0-9+/]{40,}/g, 'plain')),
  ).toEqual([]);
});

test('a vendor names what an assignment holds, and what goes on behind a secret is looked at whole', () => {
  const token = synthetic('ghp_{w36}');
  const assigned = `API_TOKEN="${token}"`;
  expect(findSecrets(assigned)).toEqual([
    { rule: 'github-token', category: 'github_token', start: 11, end: 11 + token.length },
  ]);
  const further = synthetic('{b80}');
  const [found, ...others] = findSecrets(`AKIA${synthetic('{U16}')} ${token}/${further}`).slice(1);
  expect(found).toMatchObject({ rule: 'github-token', end: 21 + token.length + 1 + further.length });
  expect(others).toEqual([]);
});
