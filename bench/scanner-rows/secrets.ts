import { createHmac } from 'node:crypto';
import type { Category } from '../../src/safety/secrets/rule.ts';
import { assignedShapes } from './assigned.ts';
import { databaseShapes } from './databases.ts';
import type { Draw } from './draw.ts';
import { inPlace } from './places.ts';
import type { Made, Shape } from './rows.ts';

const named =
  (name: string, value: (draw: Draw) => string): Shape =>
  (draw) => {
    const secret = value(draw);
    return { text: inPlace(draw, name, secret), secrets: [secret] };
  };
/** `§` stands for the secret. */
const within =
  (template: string, value: (draw: Draw) => string): Shape =>
  (draw) => {
    const secret = value(draw);
    return { text: template.replaceAll('§', () => secret), secrets: [secret] };
  };

const awsKey = (draw: Draw) => draw.pick(['AKIA', 'ASIA']) + draw.run('base32', 16);
const awsSecret = (draw: Draw) => draw.run('base64', 40);
const aws: readonly Shape[] = [
  named('aws access key id', awsKey),
  named('aws secret access key', awsSecret),
  named('secret access key', awsSecret),
  (draw): Made => {
    const [id, key] = [awsKey(draw), awsSecret(draw)];
    return {
      text: `[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${key}\nregion = eu-west-1`,
      secrets: [id, key],
    };
  },
  (draw): Made => {
    const [id, key] = [awsKey(draw), awsSecret(draw)];
    return {
      text: `{"Credentials":{"AccessKeyId":"${id}","SecretAccessKey":"${key}","Expiration":"2026-03-01T12:00:00Z"}}`,
      secrets: [id, key],
    };
  },
  within('provider "aws" {\n  region     = "eu-west-1"\n  access_key = "§"\n}', awsKey),
  within("boto3.client('s3', aws_secret_access_key='§')", awsSecret),
  within('https://b.s3.amazonaws.com/dump.sql?X-Amz-Expires=900&X-Amz-Signature=§', (draw) =>
    draw.run('hex', 64),
  ),
  within('InvalidAccessKeyId: The AWS Access Key Id § does not exist in our records.', awsKey),
  within('aws configure set aws_secret_access_key § --profile ops', awsSecret),
];

const classic = (draw: Draw) => `gh${draw.pick(['p', 'o', 'u', 's', 'r'])}_${draw.run('word', 36)}`;
const fineGrained = (draw: Draw) => `github_pat_${draw.run('word', 22)}_${draw.run('word', 59)}`;
const github: readonly Shape[] = [
  named('github token', classic),
  named('gh token', fineGrained),
  within('git clone https://x-access-token:§@github.com/acme/shop.git', classic),
  within('git remote set-url origin https://§@github.com/acme/shop.git', fineGrained),
  within('machine github.com login deploy password §', classic),
  within('curl -H "Authorization: token §" https://api.github.com/user', classic),
  within('Authorization: Bearer §', fineGrained),
  within('fatal: Authentication failed for https://github.com with §.', classic),
  within("gh auth login --with-token <<< '§'", fineGrained),
  within('https://api.github.com/repos/acme/shop?access_token=§&per_page=100', classic),
];

const keyKinds = ['RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED ', ''];
const pem = (draw: Draw, newline: string): string => {
  const kind = draw.pick(keyKinds);
  const lines = draw.base64Lines(4 + draw.number(20));
  return [`-----BEGIN ${kind}PRIVATE KEY-----`, ...lines, `-----END ${kind}PRIVATE KEY-----`].join(newline);
};
const keys: readonly Shape[] = [
  within('§', (draw) => pem(draw, '\n')),
  within('tls.key: |\n  §', (draw) => pem(draw, '\n  ')),
  within('{"type":"service_account","private_key":"§\\n"}', (draw) => pem(draw, '\\n')),
  within('PRIVATE_KEY="§"', (draw) => pem(draw, '\n')),
  within('private_key = <<EOT\n§\nEOT', (draw) => pem(draw, '\n')),
  within('$ cat /etc/ssl/private/web.key\r\n§\r\n', (draw) => pem(draw, '\r\n')),
  // Cut off by an output limit.
  within('§', (draw) => pem(draw, '\n').split('\n').slice(0, -2).join('\n')),
  within('the block is\n> §', (draw) => pem(draw, '\n> ')),
  within(
    '§',
    (draw) =>
      `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${draw.base64Lines(12).join('\n')}\n=${draw.run('base64', 4)}\n-----END PGP PRIVATE KEY BLOCK-----`,
  ),
  within(
    '§',
    (draw) =>
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${draw.run('hex', 32).toUpperCase()}\n\n${draw.base64Lines(12).join('\n')}\n-----END RSA PRIVATE KEY-----`,
  ),
];

const cluster: readonly Shape[] = [
  within('users:\n- name: admin\n  user:\n    client-key-data: §', (draw) => draw.run('base64', 400)),
  within(
    'clusters:\n- cluster:\n    certificate-authority-data: §\n    server: https://10.0.0.1:6443',
    (draw) => `${draw.run('base64', 300)}==`,
  ),
  within(
    'users:\n- name: ci\n  user:\n    token: §',
    (draw) =>
      `eyJhbGciOi${draw.run('base64url', 40)}.eyJpc3Mi${draw.run('base64url', 120)}.${draw.run('base64url', 86)}`,
  ),
  within('apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: §', (draw) =>
    draw.run('base64', 24),
  ),
  within('apiVersion: v1\nkind: Secret\nstringData:\n  api-key: "§"\ntype: Opaque', (draw) =>
    draw.run('word', 20),
  ),
  within(
    '{"apiVersion":"v1","kind":"Secret","data":{"password":"§"}}',
    (draw) => `${draw.run('base64', 22)}==`,
  ),
  within(
    '{\n    "apiVersion": "v1",\n    "data": {\n        "token": "§"\n    },\n    "kind": "Secret"\n}',
    (draw) => draw.run('base64', 32),
  ),
  within('kind: Secret\ndata:\n  .dockerconfigjson: §', (draw) =>
    Buffer.from(`{"auths":{"registry.example.com":{"auth":"${draw.run('base64', 28)}"}}}`).toString('base64'),
  ),
  within('{"auths":{"https://index.docker.io/v1/":{"auth":"§"}}}', (draw) => `${draw.run('base64', 30)}==`),
  within(
    'kubeadm join 10.0.0.1:6443 --token § --discovery-token-unsafe-skip-ca-verification',
    (draw) => `${draw.run('lowerDigits', 6)}.${draw.run('lowerDigits', 16)}`,
  ),
  within('-----BEGIN CERTIFICATE-----\n§\n-----END CERTIFICATE-----', (draw) =>
    draw.base64Lines(16).join('\n'),
  ),
  within('kubectl --token=§ get pods', (draw) => `sha256~${draw.run('base64url', 43)}`),
];

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (draw: Draw): string => {
  const head = part({
    alg: draw.pick(['HS256', 'RS256', 'ES256']),
    typ: 'JWT',
    ...(draw.number(2) === 0 ? { kid: draw.run('hex', 16) } : {}),
  });
  const body = part({
    sub: draw.uuid(),
    iss: 'https://login.example.com',
    exp: 1_772_366_401,
    roles: ['admin'],
  });
  return `${head}.${body}.${createHmac('sha256', draw.run('word', 32)).update(`${head}.${body}`).digest('base64url')}`;
};
const jwts: readonly Shape[] = [
  named('id token', jwt),
  within('Authorization: Bearer §', jwt),
  within('Cookie: theme=dark; session=§; lang=en', jwt),
  within('GET /ws?access_token=§ HTTP/1.1', jwt),
  within('token expired: §', jwt),
  within('{\\"jwt\\":\\"§\\"}', jwt),
  within('verify(§): signature mismatch', jwt),
];

const randomValue = (draw: Draw) =>
  draw.pick([draw.run('word', 32), draw.run('hex', 40), draw.uuid(), draw.run('base64url', 43)]);
const basic = (draw: Draw) =>
  Buffer.from(`${draw.run('lower', 6)}:${draw.run('word', 14)}`).toString('base64');
const headers: readonly Shape[] = [
  within('Authorization: Bearer §', randomValue),
  within("curl -H 'Authorization: Bearer §' https://api.example.com/v1", randomValue),
  within('{"Authorization": "Bearer §"}', randomValue),
  within('Authorization: Basic §', basic),
  within('Proxy-Authorization: Basic §', basic),
  within('> GET / HTTP/1.1\n> authorization: Basic §\n> accept: */*', basic),
  within("requests.get(url, headers={'Authorization': 'Token §'})", randomValue),
  within('Authorization: ApiKey §', randomValue),
  within('X-Api-Key: §', randomValue),
  within('curl --header "X-Auth-Token: §" http://keystone:5000/v3', randomValue),
  within("-H 'PRIVATE-TOKEN: §'", (draw) => draw.run('base64url', 26)),
  within('X-Vault-Token: §', (draw) => `hvs.${draw.run('base64url', 90)}`),
  within('DD-API-KEY: §', (draw) => draw.run('hex', 32)),
  within('headers:\n  Authorization: Bearer §\n  Accept: application/json', randomValue),
  within('curl -u admin:§ https://es.example.com:9200/_cat/health', (draw) => draw.run('word', 16)),
  within('wget --header="Authorization: Bearer §" https://packages.example.com', randomValue),
  within('req.Header.Set("Authorization", "Bearer §")', randomValue),
];

/** Random enough by the seed's own measure: at least 4.5 bits a character. */
function entropic(draw: Draw, alphabet: 'base64' | 'base64url' | 'word', length: number): string {
  for (;;) {
    const run = draw.run(alphabet, length);
    const counts = new Map<string, number>();
    for (const char of run) counts.set(char, (counts.get(char) ?? 0) + 1);
    let bits = 0;
    for (const count of counts.values()) bits -= (count / length) * Math.log2(count / length);
    if (bits >= 4.5 && /\d/.test(run)) return run;
  }
}
const entropicRun = (draw: Draw) =>
  entropic(draw, draw.pick(['base64', 'base64url', 'word']), 44 + draw.number(60));
const entropy: readonly Shape[] = [
  within('value §', entropicRun),
  within('the string is "§"', entropicRun),
  within('blob: §', entropicRun),
  within('found in the dump:\n§\n', entropicRun),
  within("decrypt('§')", entropicRun),
  within('level=error msg="cannot parse §" attempt=3', entropicRun),
  within('["§", 3]', entropicRun),
  within('state=§;', entropicRun),
];

export const secretShapes = {
  aws_key: aws,
  github_token: github,
  private_key: keys,
  kubeconfig: cluster,
  jwt: jwts,
  database_url: databaseShapes,
  auth_header: headers,
  high_entropy: entropy,
  password: assignedShapes,
} satisfies Partial<Record<Category, readonly Shape[]>>;
