import { isPlaceholder, looksRandom, shannon } from '../randomness.ts';
import { type Hit, type Rule, tokens } from '../rule.ts';

const digits = ({ secret }: Hit) => /\d.*\d.*\d/.test(secret);
const random = ({ secret }: Hit) => looksRandom(secret);

/** Chat, monitoring, AI, payment and other services. */
export const serviceRules: readonly Rule[] = [
  ...tokens()`
    slack-token      xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp-  [A-Za-z0-9%/+=-]{10,400}  docs.slack.dev/authentication/tokens  ${({ secret }) => /\d{4}|\d-[A-Za-z0-9]{20}/.test(secret) && !/x{5}/i.test(secret.slice(5))}
    slack-app-token  xapp-  \d-[A-Za-z0-9]{4,}-\d{4,}-[A-Za-z0-9]{8,100}  docs.slack.dev/authentication/tokens
  `,
  {
    id: 'slack-webhook',
    category: 'vendor_token',
    source: 'docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
    hints: ['hooks.slack.com/'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/([A-Za-z0-9/_-]{20,120})/diy,
    check: ({ secret }) => !isPlaceholder(secret),
  },
  {
    id: 'discord-webhook',
    category: 'vendor_token',
    source: 'discord.com/developers/docs/resources/webhook',
    hints: ['/api/webhooks/'],
    pattern: /\/api\/webhooks\/\d{15,21}\/([A-Za-z0-9_-]{50,90})/dy,
  },
  {
    id: 'teams-webhook',
    category: 'vendor_token',
    source: 'learn.microsoft.com/microsoftteams: incoming webhooks; gitleaks microsoft-teams-webhook',
    hints: ['/incomingwebhook/'],
    pattern: /\/IncomingWebhook\/([a-z0-9]{32}\/[a-f0-9-]{36}(?:\/[A-Za-z0-9_-]{1,80})?)/diy,
  },
  {
    id: 'telegram-token',
    category: 'vendor_token',
    source: 'core.telegram.org/bots/api#authorizing-your-bot',
    hints: [':aa'],
    pattern: /(?<=(?<![A-Za-z0-9])(?:bot)?\d{6,12}):AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])/y,
  },
  ...tokens()`
    anthropic-key      sk-ant-  [A-Za-z0-9_-]{20,200}  docs.claude.com: API keys
    openai-key         sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1- sk-lf-  [A-Za-z0-9_-]{20,300}  platform.openai.com/docs/api-reference/authentication
    sk-key             sk-  [A-Za-z0-9]{32,64}(?![A-Za-z0-9_-])  platform.openai.com, api-docs.deepseek.com: keys  ${({ secret }) => looksRandom(secret.slice(3))}
    huggingface-token  hf_ api_org_  [A-Za-z0-9]{34,40}(?![A-Za-z0-9_])  huggingface.co/docs/hub/security-tokens
    groq-key           gsk_  [A-Za-z0-9]{40,60}  console.groq.com/docs
    xai-key            xai-  [A-Za-z0-9]{70,90}  docs.x.ai
    perplexity-key     pplx-  [A-Za-z0-9]{40,60}  docs.perplexity.ai  ${({ secret }) => !isPlaceholder(secret.slice(5))}
    replicate-token    r8_  [A-Za-z0-9]{37,40}  replicate.com/docs/topics/security/api-tokens
    langsmith-key      lsv2_pt_ lsv2_sk_  [a-f0-9]{32}_[a-f0-9]{10}  docs.smith.langchain.com
    stripe-key         sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_  [A-Za-z0-9]{10,247}  docs.stripe.com/keys
    stripe-webhook     whsec_  [A-Za-z0-9+/=]{24,80}  docs.stripe.com/webhooks
    square-token       sq0atp- sq0csp- sq0idp- EAAAE EAAAl EAAAA  [A-Za-z0-9_-]{22,60}(?![A-Za-z0-9])  developer.squareup.com: access tokens  ${digits}
    facebook-token     EAA  [A-Za-z0-9]{90,400}  developers.facebook.com/docs/facebook-login/guides/access-tokens
    shopify-token      shpat_ shpca_ shppa_ shpss_ shptka_  [a-fA-F0-9]{32}  shopify.dev/docs/apps/build/authentication-authorization
    sendgrid-key       SG.  [A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}  twilio.com/docs/sendgrid: API keys
    sendinblue-key     xkeysib- xsmtpsib-  [a-f0-9]{64}-[A-Za-z0-9]{16}  developers.brevo.com
    twilio-key         SK AC  [a-f0-9]{32}(?![A-Za-z0-9])  twilio.com/docs/iam/api-keys
  `,
  {
    id: 'mailchimp-key',
    category: 'vendor_token',
    source: 'mailchimp.com/developer: API keys end in their data centre',
    hints: ['-us'],
    back: 32,
    pattern: /(?<![A-Za-z0-9])[a-f0-9]{32}-us\d{1,2}(?!\d)/y,
  },
  ...tokens()`
    mailgun-key   key- pubkey-  [a-f0-9]{32}(?![A-Za-z0-9])  documentation.mailgun.com: API keys
    newrelic-key  NRAK- NRJS- NRII- NRIQ- NRRA- NRAA- NRSP-  [A-Za-z0-9-]{18,42}  docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys  ${digits}
  `,
  {
    id: 'newrelic-license',
    category: 'vendor_token',
    source: 'docs.newrelic.com: licence keys end in NRAL',
    hints: ['nral'],
    back: 36,
    pattern: /(?<![A-Za-z0-9])[A-Fa-f0-9]{36}NRAL(?![A-Za-z0-9])/y,
  },
  ...tokens()`
    grafana-token        glsa_  [A-Za-z0-9]{32}_[A-Fa-f0-9]{8}  grafana.com/docs: service account tokens
    grafana-cloud-token  glc_  [A-Za-z0-9+/]{32,400}={0,3}  grafana.com/docs/grafana-cloud: access policies  ${({ secret }) => !isPlaceholder(secret.slice(4)) && shannon(secret) > 3}
    grafana-key          eyJrIjoi  [A-Za-z0-9+/]{60,400}={0,3}  grafana.com/docs: legacy API keys (base64 of {"k":)
    sentry-token         sntryu_  [a-f0-9]{64}  docs.sentry.io/account/auth-tokens
    sentry-org-token     sntrys_  [A-Za-z0-9+/=_-]{60,500}  docs.sentry.io/account/auth-tokens
    dynatrace-token      dt0c01. dt0s01. dt0s16.  [A-Z0-9a-z]{24}\.[A-Z0-9a-z]{64}  docs.dynatrace.com: token format
    honeycomb-key        hcaik_ hcalk_ hcamk_ hcxik_  [a-z0-9]{26,64}  docs.honeycomb.io: API keys
    postman-key          PMAK-  [a-fA-F0-9]{24}-[a-fA-F0-9]{34}  learning.postman.com: API keys
    linear-key           lin_api_ lin_oauth_  [A-Za-z0-9]{32,64}  linear.app/developers
    notion-token         ntn_  [0-9]{11}[A-Za-z0-9]{35}  developers.notion.com: authorization
    figma-token          figd_ figo_ figu_  [A-Za-z0-9_-]{30,60}  figma.com/developers/api: access tokens
    airtable-token       pat  [A-Za-z0-9]{14}\.[a-f0-9]{64}  airtable.com/developers/web/guides/personal-access-tokens
    asana-token          1/ 2/  \d{12,20}(?:/\d{12,20})?:[a-f0-9]{32}  developers.asana.com/docs/personal-access-token
    tailscale-key        tskey-  (?:[a-z]{2,12}-)?[A-Za-z0-9]{8,24}(?:-[A-Za-z0-9]{16,48})?  tailscale.com/kb: key prefixes  ${({ secret }) => secret.length > 26}
    shippo-token         shippo_live_ shippo_test_  [a-fA-F0-9]{40}  docs.goshippo.com
    easypost-key         EZAK EZTK  [A-Za-z0-9]{54}  docs.easypost.com
    duffel-token         duffel_live_ duffel_test_  [A-Za-z0-9_=-]{43}  duffel.com/docs
    flutterwave-key      FLWSECK_TEST- FLWSECK- FLWPUBK_TEST-  [A-Ha-h0-9]{12,32}(?:-X)?  developer.flutterwave.com
    frameio-token        fio-u-  [A-Za-z0-9_=-]{64}  developer.frame.io
    typeform-token       tfp_  [A-Za-z0-9_.=-]{40,70}  typeform.com/developers
    adobe-secret         p8e-  [A-Za-z0-9_-]{32}  developer.adobe.com: client secrets
    authress-key         sc_ ext_ scauth_ authress_  [a-zA-Z0-9]{5,30}\.[a-zA-Z0-9]{4,6}\.(?:acc|org)[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}  authress.io: service clients
    readme-key           rdme_  [a-z0-9]{70}  docs.readme.com
    settlemint-token     sm_aat_ sm_pat_ sm_sat_  [A-Za-z0-9]{16,40}  console.settlemint.com: tokens
    intra42-secret       s-s4t2ud- s-s4t2af-  [a-f0-9]{64}  api.intra.42.fr/apidoc
    defined-key          dnkey-  [A-Za-z0-9=_-]{20,32}-[A-Za-z0-9=_-]{40,60}  docs.defined.net
    beamer-token         b_  [A-Za-z0-9=_-]{44}(?![A-Za-z0-9=_-])  getbeamer.com/api  ${random}
    lob-key              live_pub_ test_pub_ live_ test_  [a-f0-9]{31,35}(?![A-Za-z0-9])  docs.lob.com: API keys
    mapbox-token         pk. sk. tk.  eyJ[A-Za-z0-9_-]{40,120}\.[A-Za-z0-9_-]{20,30}  docs.mapbox.com/accounts/guides/tokens
    plaid-token          access-sandbox- access-development- access-production-  [a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}  plaid.com/docs/api/tokens
    dropbox-token        sl.  [A-Za-z0-9_=-]{120,1300}  developers.dropbox.com: token types
    hubspot-token        pat-na1- pat-eu1- pat-na2- pat-ap1-  [a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}  developers.hubspot.com: private apps
    pagerduty-key        pdus+_0XBPWQQ_ pdeu+_0XBPWQQ_  [A-Za-z0-9-]{30,50}  developer.pagerduty.com: OAuth token format
    twitter-bearer       AAAAAAAAAAAAAAAAAAAA  [A-Za-z0-9%]{60,120}  docs.x.com: app-only bearer tokens  ${({ secret }) => looksRandom(secret.slice(22))}
  `,
  {
    id: 'pagerduty-routing-key',
    category: 'vendor_token',
    source: 'developer.pagerduty.com: Events API, routing_key of an integration',
    hints: ['routing_key', 'routing-key', 'routingkey'],
    pattern: /routing[_-]?key\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?([a-z0-9]{32})(?![A-Za-z0-9])/diy,
    check: random,
  },
  {
    id: 'opsgenie-key',
    category: 'vendor_token',
    source: 'docs.opsgenie.com: Authorization: GenieKey, the key of an integration',
    hints: ['opsgenie', 'geniekey'],
    pattern:
      /(?:opsgenie[_-]?(?:api[_-]?)?key|geniekey)\\?["']?\s{0,3}[:= ]\s{0,3}\\?["']?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![A-Za-z0-9-])/diy,
  },
  {
    id: 'maxmind-key',
    category: 'vendor_token',
    source: 'dev.maxmind.com: licence keys end in _mmk',
    hints: ['_mmk'],
    back: 36,
    pattern: /(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])/y,
  },
  {
    id: 'facebook-app-token',
    category: 'vendor_token',
    source: 'developers.facebook.com/docs/facebook-login/guides/access-tokens: app id | secret',
    hints: ['|', '%7c'],
    pattern: /(?<=(?<!\d)\d{15,16})(?:\||%7c)[0-9a-z_-]{27,40}(?![0-9a-z_-])/iy,
  },
  // No public rule set had these when this was written: formats as the consoles and documentation show them.
  ...tokens()`
    render-key        rnd_  [A-Za-z0-9]{28,40}(?![A-Za-z0-9])  render.com/docs/api  ${random}
    resend-key        re_  [A-Za-z0-9]{8}_[A-Za-z0-9]{20,32}(?![A-Za-z0-9_])  resend.com/docs: API keys  ${random}
    mailersend-token  mlsn.  [a-f0-9]{64}  developers.mailersend.com: authentication
    fireworks-key     fw_  [A-Za-z0-9]{22,32}(?![A-Za-z0-9_])  docs.fireworks.ai: API keys  ${random}
    tavily-key        tvly-  (?:dev-|prod-)?[A-Za-z0-9]{32}(?![A-Za-z0-9])  docs.tavily.com: authentication
    nvidia-key        nvapi-  [A-Za-z0-9_-]{60,80}  docs.api.nvidia.com: API keys
    apify-token       apify_api_  [A-Za-z0-9]{34,40}  docs.apify.com/platform/integrations/api
    elevenlabs-key    sk_  [a-f0-9]{48}(?![A-Za-z0-9])  elevenlabs.io/docs: authentication
    contentful-token  CFPAT-  [A-Za-z0-9_-]{43}  contentful.com/developers/docs: personal access tokens
    axiom-token       xaat- xapt-  [a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}  axiom.co/docs: API and personal tokens
    firehydrant-key   fhb-  [a-f0-9]{32}(?![a-f0-9])  docs.firehydrant.com: bot tokens
    launchdarkly-key  sdk- api- mob-  [a-f0-9]{8}-(?:[a-f0-9]{4}-){3}[a-f0-9]{12}  launchdarkly.com/docs: SDK keys and access tokens
    posthog-key       phx_ phs_  [A-Za-z0-9]{40,50}(?![A-Za-z0-9_])  posthog.com/docs/api: personal keys
    pinecone-key      pcsk_  [A-Za-z0-9]{5,7}_[A-Za-z0-9]{50,66}  docs.pinecone.io: API keys
    cerebras-key      csk-  [a-z0-9]{40,56}(?![A-Za-z0-9])  inference-docs.cerebras.ai: API keys
    together-key      tgp_v1_  [A-Za-z0-9_-]{40,50}  docs.together.ai: API keys
    voyage-key        pa-  [A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])  docs.voyageai.com: API keys  ${random}
    firecrawl-key     fc-  [a-f0-9]{32}(?![A-Za-z0-9])  docs.firecrawl.dev: API keys
    google-auth-key   AQ.Ab8  [A-Za-z0-9_-]{40,60}  ai.google.dev: Gemini authorization keys
  `,
];
