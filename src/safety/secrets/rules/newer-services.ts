import { looksRandom } from '../randomness.ts';
import { prefixed, type Rule } from '../rule.ts';

const random = ({ secret }: { readonly secret: string }) => looksRandom(secret);

/** Services whose keys no public rule set had when this was written; formats as their consoles and documentation show them. */
export const newerServiceRules: readonly Rule[] = [
  prefixed('render-key', ['rnd_'], '[A-Za-z0-9]{28,40}(?![A-Za-z0-9])', 'render.com/docs/api', {
    check: random,
  }),
  prefixed(
    'resend-key',
    ['re_'],
    '[A-Za-z0-9]{8}_[A-Za-z0-9]{20,32}(?![A-Za-z0-9_])',
    'resend.com/docs: API keys',
    { check: random },
  ),
  prefixed('mailersend-token', ['mlsn.'], '[a-f0-9]{64}', 'developers.mailersend.com: authentication'),
  prefixed('fireworks-key', ['fw_'], '[A-Za-z0-9]{22,32}(?![A-Za-z0-9_])', 'docs.fireworks.ai: API keys', {
    check: random,
  }),
  prefixed(
    'tavily-key',
    ['tvly-'],
    '(?:dev-|prod-)?[A-Za-z0-9]{32}(?![A-Za-z0-9])',
    'docs.tavily.com: authentication',
  ),
  prefixed('nvidia-key', ['nvapi-'], '[A-Za-z0-9_-]{60,80}', 'docs.api.nvidia.com: API keys'),
  prefixed('apify-token', ['apify_api_'], '[A-Za-z0-9]{34,40}', 'docs.apify.com/platform/integrations/api'),
  prefixed('elevenlabs-key', ['sk_'], '[a-f0-9]{48}(?![A-Za-z0-9])', 'elevenlabs.io/docs: authentication'),
  prefixed(
    'contentful-token',
    ['CFPAT-'],
    '[A-Za-z0-9_-]{43}',
    'contentful.com/developers/docs: personal access tokens',
  ),
];
