import { isPlaceholder, looksRandom, shannon } from '../randomness.ts';
import { type Hit, type Rule, tokens, wordStart } from '../rule.ts';

const hasDigit = ({ secret }: Hit) => /\d/.test(secret);

/** Cloud providers and their registries. */
export const cloudRules: readonly Rule[] = [
  ...tokens('aws_key')`
    aws-access-key      AKIA ASIA ABIA ACCA  [A-Z0-9]{16}(?![A-Za-z0-9])  docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
    aws-access-key-old  A3T  [A-Z0-9]{17}(?![A-Za-z0-9])  gitleaks aws-access-token  ${({ secret }) => /\d.*\d/.test(secret.slice(3))}
  `,
  {
    id: 'aws-secret-key',
    category: 'aws_key',
    source:
      'docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html; git-secrets, detect-secrets aws',
    hints: ['aws', 'secretaccesskey', 'secret_access_key', 'secret access key', 'secretkey'],
    pattern:
      /(?=[\w .-]{0,40}(?:secret|key|token))(?:[\w.-]{2,40}(?: [\w.-]{2,20}){0,3})\\?["'`\]]{0,2}(?:\s{0,3}(?:=>|:=|=|:|,|>)\s{0,5}|(?<=access_key)[ \t]{1,3})\\?["'`]{0,2}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/diy,
    check: ({ secret }) => shannon(secret) > 3.5 && !/^[0-9a-f]+$/.test(secret),
  },
  ...tokens('aws_key')`
    aws-bedrock-key      ABSK  [A-Za-z0-9+/]{100,280}={0,2}  AWS: Amazon Bedrock API keys
    aws-bedrock-session  bedrock-api-key-  [A-Za-z0-9+/=]{20,4000}  AWS: Amazon Bedrock API keys
  `,
  {
    id: 'aws-signature',
    category: 'aws_key',
    source: 'docs.aws.amazon.com/AmazonS3: presigned URLs (X-Amz-Signature, X-Amz-Security-Token)',
    hints: ['x-amz-signature=', 'x-amz-security-token='],
    pattern: /x-amz-(?:signature|security-token)=([A-Za-z0-9%/+=_-]{32,2048})/diy,
  },
  ...tokens()`
    google-api-key        AIza  [A-Za-z0-9_-]{35}  cloud.google.com/docs/authentication/api-keys
    google-oauth-secret   GOCSPX-  [A-Za-z0-9_-]{28}  developers.google.com/identity/protocols/oauth2
    google-oauth-token    ya29.  [A-Za-z0-9_-]{20,2000}  developers.google.com/identity/protocols/oauth2
    google-refresh-token  1//0  [A-Za-z0-9_-]{40,200}  developers.google.com/identity/protocols/oauth2
  `,
  {
    id: 'azure-storage-key',
    category: 'vendor_token',
    source:
      'learn.microsoft.com: configure Azure Storage connection strings; detect-secrets azure_storage_key',
    hints: ['accountkey', 'sharedaccesskey', 'primarykey', 'accesskey'],
    pattern: /[A-Za-z]{9,16}\\?["']?\s{0,3}[=:]\s{0,3}\\?["']?([A-Za-z0-9+/]{42,86}={1,2})/diy,
  },
  {
    id: 'azure-sas',
    category: 'vendor_token',
    source: 'learn.microsoft.com/rest/api/storageservices/create-service-sas (sig=)',
    hints: ['&sig=', '?sig=', ';sig='],
    pattern: /.sig=([A-Za-z0-9%+/=]{30,120})/diy,
  },
  {
    id: 'azure-client-secret',
    category: 'vendor_token',
    source: 'learn.microsoft.com: Entra client secrets; gitleaks azure-ad-client-secret',
    hints: ['q~'],
    back: 4,
    pattern: /(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}/y,
    check: ({ secret }) => shannon(secret) > 3,
  },
  {
    id: 'azure-devops-token',
    category: 'vendor_token',
    source: 'learn.microsoft.com/azure/devops: personal access tokens (AZDO signature)',
    hints: ['azdo'],
    back: 76,
    pattern: /(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}/y,
  },
  ...tokens()`
    alibaba-key            LTAI  [A-Za-z0-9]{12,20}(?![A-Za-z0-9])  alibabacloud.com: AccessKey pair  ${hasDigit}
    tencent-key            AKID  [A-Za-z0-9]{32}(?![A-Za-z0-9])  cloud.tencent.com: SecretId
    digitalocean-token     dop_v1_ doo_v1_ dor_v1_  [A-Fa-f0-9]{64}  docs.digitalocean.com/reference/api/create-personal-access-token
    yandex-token           t1.  [A-Za-z0-9_-]{10,300}={0,2}\.[A-Za-z0-9_-]{86}={0,2}  yandex.cloud: IAM token
    yandex-key             AQVN  [A-Za-z0-9_-]{35,38}  yandex.cloud: API key
    yandex-aws-key         YCAJ YCM YCO YCP  [A-Za-z0-9_-]{22,38}  yandex.cloud: static access keys  ${hasDigit}
    heroku-key             HRKU-  [A-Za-z0-9_-]{36,70}  devcenter.heroku.com: authentication
    fly-token              fo1_  [A-Za-z0-9_-]{43}  fly.io/docs/security/tokens
    fly-macaroon           fm1a_ fm1r_ fm2_  [A-Za-z0-9+/]{60,2000}={0,3}  fly.io/docs/security/tokens
    scalingo-token         tk-us-  [A-Za-z0-9_-]{48}  gitleaks scalingo-api-token
    scaleway-key           SCW  [A-Z0-9]{17}(?![A-Za-z0-9])  scaleway.com/docs: API keys
    vercel-token           vcp_ vci_ vca_ vcr_ vck_  [A-Za-z0-9]{24,90}  vercel.com/docs: token formats; secretlint vercel
    netlify-token          nfp_ nfc_ nfo_ nfu_ nfb_  [A-Za-z0-9]{36}  docs.netlify.com: access tokens
    cloudflare-token       cfut_ cfat_ cfk_  [A-Za-z0-9_-]{40,60}  developers.cloudflare.com: token formats; secretlint cloudflare
    cloudflare-origin-key  v1.0-  [a-f0-9]{24}-[a-f0-9]{146}  developers.cloudflare.com/ssl/origin-configuration/origin-ca
    supabase-key           sbp_ sb_secret_  [A-Za-z0-9_-]{28,60}  supabase.com/docs/guides/api/api-keys
    neon-key               napi_  [a-z0-9]{40,70}  neon.tech/docs/manage/api-keys
    aiven-password         AVNS_  [A-Za-z0-9_-]{16,24}(?![A-Za-z0-9_-])  aiven.io/docs: service passwords  ${({ secret }) => !isPlaceholder(secret)}
    mongodb-atlas-secret   mdb_sa_sk_  [A-Za-z0-9_-]{36,60}  mongodb.com/docs/atlas/api: service accounts
    elastic-cloud-key      essu_  [A-Za-z0-9+/]{60,120}={0,2}  elastic.co/guide: Elastic Cloud API keys
    planetscale-token      pscale_tkn_ pscale_oauth_ pscale_pw_  [\w=.-]{32,64}  planetscale.com/docs: service tokens
    databricks-token       dapi dkea dose  [a-f0-9]{32}(?:-\d)?  docs.databricks.com: personal access tokens
    openshift-token        sha256~  [A-Za-z0-9_-]{43}  docs.openshift.com: OAuth token format  ${({ secret }) => !isPlaceholder(secret.slice(7))}
  `,
  {
    id: 'bootstrap-token',
    category: 'kubeconfig',
    source: 'kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens',
    hints: ['--token'],
    pattern: new RegExp(String.raw`--token[ =]([a-z0-9]{6}\.[a-z0-9]{16})(?![a-z0-9])`, 'dy'),
  },
  {
    id: 'clickhouse-key',
    category: 'vendor_token',
    source: 'clickhouse.com/docs/cloud/manage/openapi; gitleaks clickhouse-cloud-api-secret-key',
    hints: ['4b1d'],
    pattern: new RegExp(`${wordStart}4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])`, 'y'),
    // 42 hex characters are a digest cut short.
    check: ({ secret }) => !/^[0-9a-f]+$/i.test(secret) && looksRandom(secret),
  },
];
