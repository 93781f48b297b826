/** What the app may do in Slack, as manifest.yml asks for it, and what goes without one that it lacks. */
export const BOT_SCOPES: Readonly<Record<string, string>> = {
  'app_mentions:read': 'I hear no mention',
  'assistant:write': 'nobody sees that I am at work on an answer',
  'chat:write': 'I cannot write at all',
  commands: '/sentry does not work',
  'channels:history': 'I see no alert in public channels',
  'channels:read': 'I find no channel by its name',
  'groups:history': 'I see no alert in private channels',
  'groups:read': 'I cannot tell who reads private channels',
  'channels:join': 'I must be invited to each channel',
  'im:history': 'I hear no direct message',
  'im:read': 'I find no direct message again',
  'im:write': 'I can begin no direct message',
  'metadata.message:read': 'after a crash I may say something twice',
  'usergroups:read': 'no user group can approve or be on call',
  'users:read': 'nobody can approve: I cannot tell who people are',
  'users:read.email': 'I cannot tell who in Slack a schedule has on call',
};
