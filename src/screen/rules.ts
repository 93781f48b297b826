/** One kind of secret. `pattern` is global and linear-time: no nested or overlapping repetition. */
export interface Rule {
  readonly id: string;
  /** The seed's category it belongs to (memory's safety scanner). */
  readonly category: string;
  /** Text without any of these (lower case) cannot match: the cheap test that comes first. Empty: always try. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
  /** Which capture group is the secret; 0 is the whole match. */
  readonly group: number;
}

/** Formats as their issuers document them; the shapes are those that the rule sets of gitleaks and secretlint agree on. */
export const rules: readonly Rule[] = [
  {
    id: 'aws-access-key',
    category: 'aws',
    hints: ['akia', 'asia', 'abia', 'acca'],
    pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g,
    group: 0,
  },
  {
    id: 'aws-secret-key',
    category: 'aws',
    hints: ['aws', 'secret'],
    pattern:
      /(?:aws.{0,20}?)?(?:secret.{0,4}access.{0,4}key|aws.{0,4}secret).{0,10}?[=:"'\s]\s*["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
    group: 1,
  },
  {
    id: 'github-token',
    category: 'github',
    hints: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    pattern: /\bgh[pousr]_[A-Za-z0-9]{36,255}\b/g,
    group: 0,
  },
  {
    id: 'github-fine-grained',
    category: 'github',
    hints: ['github_pat_'],
    pattern: /\bgithub_pat_[A-Za-z0-9_]{22,255}\b/g,
    group: 0,
  },
  {
    id: 'private-key',
    category: 'private_key',
    hints: ['private key'],
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
    group: 0,
  },
  {
    id: 'jwt',
    category: 'jwt',
    hints: ['eyj'],
    pattern: /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
    group: 0,
  },
  {
    id: 'url-password',
    category: 'database_url',
    hints: ['://'],
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@'"<>]{0,128}:([^\s/@'"<>]{1,256})@[^\s'"<>]/gi,
    group: 1,
  },
  {
    id: 'kubeconfig-data',
    category: 'kubeconfig',
    hints: ['client-key-data', 'client-certificate-data', 'certificate-authority-data'],
    pattern:
      /\b(?:client-key-data|client-certificate-data|certificate-authority-data):\s*"?([A-Za-z0-9+/=]{40,})/g,
    group: 1,
  },
  {
    id: 'authorization-header',
    category: 'auth_header',
    hints: ['bearer ', 'basic '],
    pattern: /\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{16,}={0,2})/gi,
    group: 1,
  },
  {
    id: 'slack-token',
    category: 'vendor_token',
    hints: ['xox', 'xapp-'],
    pattern: /\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}/g,
    group: 0,
  },
  {
    id: 'slack-webhook',
    category: 'vendor_token',
    hints: ['hooks.slack.com'],
    pattern: /hooks\.slack\.com\/(?:services|workflows)\/([A-Za-z0-9/_-]{20,})/g,
    group: 1,
  },
  {
    id: 'anthropic-key',
    category: 'vendor_token',
    hints: ['sk-ant-'],
    pattern: /\bsk-ant-[A-Za-z0-9_-]{20,}/g,
    group: 0,
  },
  {
    id: 'openai-key',
    category: 'vendor_token',
    hints: ['sk-'],
    pattern: /\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}/g,
    group: 0,
  },
  {
    id: 'stripe-key',
    category: 'vendor_token',
    hints: ['k_live_', 'k_test_'],
    pattern: /\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/g,
    group: 0,
  },
  {
    id: 'google-key',
    category: 'vendor_token',
    hints: ['aiza'],
    pattern: /\bAIza[A-Za-z0-9_-]{35}/g,
    group: 0,
  },
  {
    id: 'gitlab-token',
    category: 'vendor_token',
    hints: ['glpat-'],
    pattern: /\bglpat-[A-Za-z0-9_-]{20,}/g,
    group: 0,
  },
  {
    id: 'npm-token',
    category: 'vendor_token',
    hints: ['npm_'],
    pattern: /\bnpm_[A-Za-z0-9]{36}\b/g,
    group: 0,
  },
  {
    id: 'password-assignment',
    category: 'password',
    hints: ['passw', 'pwd', 'secret', 'token', 'api_key', 'apikey', 'api-key'],
    pattern:
      /(?:passw(?:or)?d|pwd|secret|api[_-]?key|(?:auth|access)[_-]?token)["']?\s{0,3}(?:=|:|=>)\s{0,3}["']?([^\s"',;&(){}<>[\]$]{8,128})/gi,
    group: 1,
  },
  // CREATE/ALTER ROLE … PASSWORD '…', as pg_stat_activity and statement logs show it.
  {
    id: 'sql-password',
    category: 'password',
    hints: ['password'],
    pattern: /\bpassword\s+'([^']{1,256})'/gi,
    group: 1,
  },
];
