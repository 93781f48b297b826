import { isSlackUser } from './is-slack-user.ts';

/** Scopes of stops that a file in a data folder sets: this, the file's name, and which folder. */
export const FILE_SCOPE = 'file:';

/** A scope of the switch for people. */
export function formatScope(scope: string): string {
  return scope === '*' || scope.startsWith(FILE_SCOPE) ? 'everything' : scope.replace(':', ' ');
}

/** Who set or cleared the switch, where Slack draws it: a person, the command line, a file, or its own end. */
export const formatSetter = (by: string): string => (isSlackUser(by) ? `<@${by}>` : by);
