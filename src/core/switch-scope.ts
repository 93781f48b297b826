/** Scopes of stops that a file in a data folder sets: this, the file's name, and which folder. */
export const FILE_SCOPE = 'file:';

/** A scope of the switch for people. */
export function formatScope(scope: string): string {
  return scope === '*' || scope.startsWith(FILE_SCOPE) ? 'everything' : scope.replace(':', ' ');
}
