/**
 * Slack's tiers: calls per minute, per method, workspace and app (docs.slack.dev/apis/web-api/rate-limits, and
 * slackapi/java-slack-sdk metadata/web-api/rate_limit_tiers.json). Methods that are not listed are not limited
 * here (Slack's "special" tier).
 */
const TIERS = { 1: 1, 2: 20, 3: 50, 4: 100 } as const;
type Tier = keyof typeof TIERS;

const METHOD_TIERS: Readonly<Record<string, Tier>> = {
  'agents.sessions.setStatus': 4,
  'agents.sessions.rename': 4,
  'assistant.threads.setStatus': 4,
  'assistant.threads.setSuggestedPrompts': 4,
  'assistant.threads.setTitle': 4,
  'apps.connections.open': 4,
  'bookmarks.add': 2,
  'bots.info': 3,
  'canvases.create': 2,
  'chat.appendStream': 4,
  'chat.delete': 3,
  'chat.postEphemeral': 4,
  'chat.startStream': 2,
  'chat.stopStream': 2,
  'chat.update': 3,
  'conversations.history': 3,
  'conversations.info': 3,
  'conversations.join': 3,
  'conversations.list': 2,
  'conversations.members': 4,
  'conversations.open': 3,
  'conversations.replies': 3,
  'files.completeUploadExternal': 4,
  'files.getUploadURLExternal': 4,
  'pins.add': 2,
  'reactions.add': 3,
  'reactions.get': 3,
  'reactions.remove': 2,
  'team.info': 3,
  'usergroups.list': 2,
  'usergroups.users.list': 2,
  'users.conversations': 3,
  'users.info': 4,
  'users.list': 2,
  'users.lookupByEmail': 3,
  'views.open': 4,
  'views.publish': 4,
  'views.push': 4,
  'views.update': 4,
};

/** "About one message per second and channel; short bursts are allowed." */
const POSTS_PER_MINUTE = 60;
const POST_BURST = 5;

interface Bucket {
  tokens: number;
  at: number;
}

/** Token buckets; a tier's whole minute may be used as one burst. */
export class RateLimits {
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();
  enabled = true;
  /** 10 lets ten times as much through; Retry-After shrinks with it (never below 1 s, as it is in whole seconds). */
  speed = 1;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Seconds to wait, or 0 when the call may go on (and is counted). `channel` matters for posting only. */
  take(app: string, method: string, channel: string): number {
    if (!this.enabled) return 0;
    if (method === 'chat.postMessage')
      return this.#spend(`${app} post ${channel}`, POSTS_PER_MINUTE, POST_BURST);
    const tier = METHOD_TIERS[method];
    if (tier === undefined) return 0;
    return this.#spend(`${app} ${method}`, TIERS[tier], TIERS[tier]);
  }

  #spend(key: string, perMinute: number, burst: number): number {
    const now = this.#now();
    const perMs = (perMinute * this.speed) / 60_000;
    const capacity = burst * Math.max(1, this.speed);
    const bucket = this.#buckets.get(key) ?? { tokens: capacity, at: now };
    bucket.tokens = Math.min(capacity, bucket.tokens + (now - bucket.at) * perMs);
    bucket.at = now;
    this.#buckets.set(key, bucket);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000));
  }
}
