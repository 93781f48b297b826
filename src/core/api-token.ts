/**
 * What a token of the HTTP API may do. `read`: what everybody of the workspace may read in Slack. `trigger`: open incidents.
 * `changes`: tell of changes. `private`: read incidents of private channels, too.
 */
export const apiScopes = ['read', 'trigger', 'changes', 'private'] as const;
export type ApiScope = (typeof apiScopes)[number];

/** A program that may call the HTTP API, known by its secret; on record it is `api:<name>`. */
export interface ApiToken {
  readonly name: string;
  readonly secret: string;
  readonly scopes: readonly ApiScope[];
}
