/** Scopes of stops that a file in a data folder sets: this, the file's name, and which folder. */
export const FILE_SCOPE = 'file:';

/** A scope of the switch for people. */
export function formatScope(scope: string): string {
  return scope === '*' || scope.startsWith(FILE_SCOPE) ? 'everything' : scope.replace(':', ' ');
}

/** The switch is also set by the command line, by a file, and ends by itself. */
export const isSlackUser = (by: string): boolean => /^[UW][A-Z0-9]{2,}$/.test(by);

/** Who set or cleared the switch, where Slack draws it. */
export const formatSetter = (by: string): string => (isSlackUser(by) ? `<@${by}>` : by);
