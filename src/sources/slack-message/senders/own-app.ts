import type { Content } from '../schema.ts';

/** A sender's own app in Slack: its id in Slack's directory, and how it is called (installed from elsewhere, its id differs). */
const ownApps: Readonly<Record<string, { readonly id?: string; readonly name: RegExp }>> = {
  pagerduty: { id: 'A1FKYAUUX', name: /^pager ?duty\b/i },
  opsgenie: { name: /^(?:opsgenie|jira service management)\b/i },
  'sentry-io': { id: 'A011MFBJEUU', name: /^sentry\b/i },
  'gcp-monitoring': { name: /^google cloud\b/i },
  'new-relic': { name: /^new ?relic\b/i },
  cloudwatch: { id: 'A6L22LZNH', name: /^(?:aws|amazon q|(?:amazon )?cloudwatch)\b/i },
};

/**
 * Whether a sender's own app posted it. What a message says is no proof: any app may quote another's link. A poster may choose its
 * `username`, so it counts only where Slack tells no app.
 */
export function isOfOwnApp(source: string, { app_id: id, bot_profile: bot, username }: Content): boolean {
  const own = ownApps[source];
  if (!own) return false;
  const told = id ?? bot?.app_id;
  if (told && told === own.id) return true;
  return own.name.test(bot?.name ?? (told ? '' : (username ?? '')));
}
