import { shannon } from '../randomness.ts';
import type { Rule, Span } from '../rule.ts';

/** What a block without its end marker may hold: keys cut off by an output limit still are keys. */
const bareBody = /(?:\s|\\[nrt]|[>|"'+,\\]){0,12}[A-Za-z0-9+/=]{16,}/y;

/** How a text ends that was cut within a block: in a line of it, or in its end marker. */
const cutBody = /(?:[\r\n]|\\[nr]){1,4}(?:[A-Za-z0-9+/=]{0,15}|-{1,5}[A-Z ]{0,60}-{0,4})$/y;

/** To the end of the PEM or PGP block that begins here; without an end marker, as far as base64 lines go. */
function blockEnd(text: string, { start, end }: Span): number {
  const next = text.indexOf('-----', end);
  if (next !== -1 && text.startsWith('-----END', next)) {
    const close = text.indexOf('-----', next + 8);
    // The marker's own label is short; anything longer is not one.
    if (close !== -1 && close - next < 90) return close + 5;
  }
  let at = end;
  for (;;) {
    bareBody.lastIndex = at;
    if (!bareBody.test(text) || bareBody.lastIndex <= start) break;
    at = bareBody.lastIndex;
  }
  cutBody.lastIndex = at;
  return cutBody.test(text) ? text.length : at;
}

/** Keys, certificates and tokens with a structure of their own. */
export const blockRules: readonly Rule[] = [
  {
    id: 'private-key',
    category: 'private_key',
    source: 'RFC 7468 §10–11, RFC 4880 §6.2; secretlint privatekey, gitleaks private-key',
    hints: ['-----begin'],
    pattern: /-----BEGIN[ A-Z0-9_]{0,60}PRIVATE KEY(?: BLOCK)?-----/iy,
    extend: blockEnd,
  },
  {
    id: 'json-web-key',
    category: 'private_key',
    source: 'RFC 7517 §4, RFC 7518 §6: the private members of a JSON Web Key',
    hints: ['"k"', '"d"', '"p"', '"q"', '"dp"', '"dq"', '"qi"'],
    pattern: /"(?:k|d|p|q|dp|dq|qi)"\s{0,3}:\s{0,3}"([A-Za-z0-9_-]{16,2048})"/dy,
    check: ({ text, start, end }) => /"kty"/.test(text.slice(Math.max(0, start - 3_000), end + 3_000)),
  },
  {
    id: 'putty-key',
    category: 'private_key',
    source: 'PuTTY manual, appendix C (PPK file format)',
    hints: ['private-lines:'],
    pattern: /Private-Lines:\s{1,4}\d{1,4}\s{1,4}((?:[A-Za-z0-9+/=]{16,80}\s{0,2}){1,80})/diy,
  },
  {
    id: 'age-key',
    category: 'private_key',
    source: 'age-encryption.org/v1 (Bech32 identity); gitleaks age-secret-key',
    hints: ['age-secret-key-1'],
    pattern: /AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}/y,
  },
  {
    id: 'certificate',
    category: 'kubeconfig',
    source: 'RFC 7468 §5; the seed: embedded certificates',
    hints: ['-----begin certificate'],
    pattern: /-----BEGIN CERTIFICATE(?: REQUEST)?-----/y,
    extend: blockEnd,
    check: ({ secret }) => secret.length > 80,
  },
  {
    id: 'kubeconfig-data',
    category: 'kubeconfig',
    source: 'kubernetes.io/docs/reference/config-api/kubeconfig.v1 (AuthInfo, Cluster)',
    hints: ['client-key-data', 'client-certificate-data', 'certificate-authority-data'],
    pattern: /[a-z-]{15,26}["']?\s{0,2}:\s{0,4}["']?([A-Za-z0-9+/=_-]{16,})/diy,
  },
  {
    id: 'docker-auths',
    category: 'kubeconfig',
    source: 'docs.docker.com: config.json `auths`, base64 as kubernetes.io/dockerconfigjson keeps it',
    // base64 of `{"auths":` and of `{ "auths":`, `{\n"auths"` begins alike
    hints: ['eyjhdxrocyi6', 'eyaiyxv0ahmi', 'ewogicjhdxro', 'ewoglcjhdxro', 'ewojimf1dghz'],
    pattern: /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{16,}={0,2}/y,
  },
  {
    id: 'docker-auth',
    category: 'kubeconfig',
    source: 'docs.docker.com/reference/cli/docker/login: `auths.<registry>.auth`',
    hints: ['"auth"', '\\"auth\\"'],
    pattern: /\\?"auth\\?"\s{0,3}:\s{0,3}\\?"([A-Za-z0-9+/]{8,}={0,2})\\?"/diy,
  },
  {
    id: 'jwt',
    category: 'jwt',
    source: 'RFC 7519 §3, RFC 7515 §7.1: base64url parts, the first two JSON objects; the last may be empty',
    hints: ['eyj', 'ewog', 'eyai'],
    pattern:
      /(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))(?:eyJ|ewog|eyAi)[A-Za-z0-9_-]{6,}={0,2}\.(?:eyJ|ewog|eyAi|e30)[A-Za-z0-9_/\\-]{0,}={0,2}(?:\.[A-Za-z0-9_/+-]{0,}={0,2})?/y,
    check: ({ secret }) => secret.length > 30,
  },
  {
    id: 'jwe',
    category: 'jwt',
    source: 'RFC 7516 §7.1: five base64url parts',
    hints: ['eyj'],
    pattern:
      /(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{0,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/y,
  },
  {
    id: 'jwt-base64',
    category: 'jwt',
    source: 'base64 of a JWT, as a Secret keeps service-account tokens; gitleaks jwt-base64',
    hints: ['zxlk'],
    pattern: /(?<![A-Za-z0-9+/])ZXlK[A-Za-z0-9+/]{60,}={0,2}/y,
    check: ({ secret }) => shannon(secret.slice(0, 400)) > 4,
  },
];
