import { isPlaceholder, looksRandom } from '../randomness.ts';
import { type Hit, type Rule, tokens } from '../rule.ts';

const hasDigit = ({ secret }: Hit) => /\d/.test(secret);
const random = ({ secret }: Hit) => looksRandom(secret);
const real = ({ secret }: Hit) => !isPlaceholder(secret.slice(6));

/** Code hosting, package registries, continuous integration, infrastructure as code. */
export const forgeRules: readonly Rule[] = [
  ...tokens('github_token')`
    github-token          ghp_ gho_ ghu_ ghs_ ghr_  [A-Za-z0-9]{30,255}  github.blog: behind GitHub’s new authentication token formats  ${({ secret }) => !/^(.)\1+$/.test(secret.slice(4))}
    github-fine-grained   github_pat_  [A-Za-z0-9_]{22,255}  github.blog: behind GitHub’s new authentication token formats
    github-app-jwt-token  v1.  [a-f0-9]{40}(?![a-f0-9])  docs.github.com: installation access tokens (before 2021)
  `,
  ...tokens()`
    gitlab-token       glpat- gldt- glrt- glsoat- glffct- glft- glwt- glimt-  [A-Za-z0-9_-]{20,300}(?:\.[a-z0-9]{2,}){0,2}  docs.gitlab.com/security/tokens/#token-prefixes  ${real}
    gitlab-long-token  glptt- gloas- glagent- glrtr- glcbt-  [A-Za-z0-9_-]{20,300}(?:\.[a-z0-9]{2,}){0,2}  docs.gitlab.com/security/tokens/#token-prefixes  ${real}
    gitlab-runner      GR1348941  [A-Za-z0-9_-]{20,50}  docs.gitlab.com/security/tokens/#token-prefixes
  `,
  {
    id: 'gitlab-session',
    category: 'vendor_token',
    source: 'gitleaks gitlab-session-cookie',
    hints: ['_gitlab_session='],
    pattern: /_gitlab_session=[0-9a-z]{20,64}/y,
  },
  ...tokens()`
    bitbucket-token  ATBB ATCTT3  [A-Za-z0-9_=-]{28,220}  support.atlassian.com: Bitbucket app passwords  ${hasDigit}
    atlassian-token  ATATT3  [A-Za-z0-9_=-]{60,240}  support.atlassian.com: API tokens
    npm-token        npm_  [A-Za-z0-9]{36}  github.blog: npm access token format
  `,
  {
    id: 'npm-auth',
    category: 'vendor_token',
    source: 'docs.npmjs.com/cli/configuring-npm/npmrc#auth-related-configuration',
    hints: ['_authtoken', '_auth=', '_auth =', '_password=', '_password ='],
    pattern: /(?<![A-Za-z0-9])_(?:authToken|auth|password)[ \t]{0,2}=[ \t]{0,2}["']?([^\s"'$\\{}]{6,300})/diy,
    check: ({ secret }) => !isPlaceholder(secret) && !secret.includes('://'),
  },
  ...tokens()`
    pypi-token      pypi-AgEI pypi-AgEN  [A-Za-z0-9_-]{50,1000}  pypi.org/help/#apitoken
    rubygems-token  rubygems_  [a-f0-9]{48}  guides.rubygems.org/api-key-scopes
    nuget-key       oy2  [a-z0-9]{43}(?![A-Za-z0-9])  learn.microsoft.com/nuget: API keys
    crates-token    cio  [A-Za-z0-9]{32}(?![A-Za-z0-9])  crates.io: API tokens  ${random}
    clojars-token   CLOJARS_ clojars_  [A-Za-z0-9]{60}  github.com/clojars/clojars-web: deploy tokens
    docker-token    dckr_pat_ dckr_oat_  [A-Za-z0-9_-]{27,40}  docs.docker.com/security/access-tokens
  `,
  {
    id: 'artifactory-token',
    category: 'vendor_token',
    source: 'jfrog.com/help: API keys and reference tokens; detect-secrets artifactory',
    hints: ['akc'],
    pattern: /(?:(?<=[\s=:"'`>]|\\[nrt])|(?<![\s\S]))AKC[A-Za-z0-9]{10,}/y,
    check: ({ secret }) => /\d|x{4}/.test(secret),
  },
  {
    id: 'artifactory-encrypted',
    category: 'vendor_token',
    source: 'jfrog.com/help: encrypted passwords; detect-secrets artifactory',
    hints: ['ap'],
    pattern: /(?:(?<=[\s=:"'`>])|(?<![\s\S]))AP[0-9A-F][A-Za-z0-9]{8,}(?=["'`<\s]|(?![\s\S]))/y,
    check: ({ secret }) => /\d/.test(secret),
  },
  ...tokens()`
    artifactory-reference  cmVmd  [A-Za-z0-9]{59}(?![A-Za-z0-9])  jfrog.com/help: reference tokens  ${random}
  `,
  {
    id: 'vault-secret-id',
    category: 'vendor_token',
    source: 'developer.hashicorp.com/vault/docs/auth/approle: the secret half of a role',
    hints: ['secret_id', 'secret-id'],
    pattern:
      /secret[_-]id\\?["']?\s{0,3}[:=]?\s{0,3}\\?["']?([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?![\w-])/diy,
  },
  {
    id: 'terraform-token',
    category: 'vendor_token',
    source: 'developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens',
    hints: ['.atlasv1.'],
    back: 14,
    pattern: /[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,80}/y,
  },
  ...tokens()`
    vault-token        hvs. hvb. hvr.  [A-Za-z0-9_-]{24,400}  developer.hashicorp.com/vault/docs/concepts/tokens#token-prefixes  ${random}
    vault-old-token    s.  [A-Za-z0-9]{24}(?![A-Za-z0-9.])  developer.hashicorp.com/vault/docs/concepts/tokens  ${({ secret }) => /\d/.test(secret) && /[A-Z]/.test(secret) && looksRandom(secret)}
    pulumi-token       pul-  [a-f0-9]{40}  pulumi.com/docs/pulumi-cloud/access-management/access-tokens
    doppler-token      dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.  [A-Za-z0-9._-]{40,90}  docs.doppler.com: token formats
    onepassword-token  ops_eyJ  [A-Za-z0-9+/_-]{100,}={0,3}  developer.1password.com: service accounts
  `,
  {
    id: 'onepassword-key',
    category: 'vendor_token',
    source: 'support.1password.com/secret-key; gitleaks 1password-secret-key',
    hints: ['a3-'],
    pattern:
      /(?<![A-Za-z0-9])A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![A-Za-z0-9])/y,
  },
  ...tokens()`
    octopus-key        API-  [A-Z0-9]{25,32}(?![A-Za-z0-9])  octopus.com/docs/octopus-rest-api: API keys  ${hasDigit}
    harness-key        pat. sat.  [A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}  developer.harness.io: API keys
    infracost-key      ico-  [A-Za-z0-9]{32}  infracost.io/docs  ${real}
    buildkite-token    bkua_ bkat_  [a-z0-9]{40}  buildkite.com/docs/apis/managing-api-tokens
    circleci-token     CCIPAT_ CCIPRJ_  [A-Za-z0-9_]{22,70}  circleci.com/docs/managing-api-tokens
    sourcegraph-token  sgp_  (?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}  sourcegraph.com/docs/cli/how-tos/creating_an_access_token
    sonar-token        squ_ sqp_ sqa_  [a-f0-9]{40}  docs.sonarsource.com: generating and using tokens
    prefect-token      pnu_ pnb_  [A-Za-z0-9]{36}  docs.prefect.io: API keys
    rootly-token       rootly_  [a-f0-9]{64}  rootly.com/docs/api
    infisical-token    st.  [a-f0-9-]{24,36}\.[a-f0-9]{32}\.[a-f0-9]{32}  infisical.com/docs: service tokens
    e2b-key            e2b_  [a-f0-9]{40}  e2b.dev/docs: API keys
    clickup-token      pk_  \d{6,10}_[A-Z0-9]{30,36}(?![A-Za-z0-9])  developer.clickup.com: personal tokens
  `,
];
