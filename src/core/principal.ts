/** Who a list of people in the configuration means: `U0123`, `group:oncall`, `channel:C0123`. */
export type Principal =
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'group'; readonly name: string }
  | { readonly kind: 'channel'; readonly id: string };

/** The members of a channel, by its id alone: a name can be given away, and whoever has it then would approve. */
export function channelPrincipal(id: string): Principal | { readonly wrong: string } {
  if (/^[CG][A-Z0-9]+$/.test(id)) return { kind: 'channel', id };
  const wrong = `"channel:${id.slice(0, 80)}" is no channel's id (C…). In Slack, open the channel and click its name: the id stands at the bottom of "About"`;
  return { wrong };
}

/** Whether a user group is named by its id, not its handle. */
export const isGroupId = (name: string): boolean => /^S[A-Z0-9]{5,}$/.test(name);

/** A user group, for people: `@oncall`, or of an id `<!subteam^S0123>`, which becomes its handle on the way out. */
export const formatGroup = (name: string): string => {
  const bare = name.replace(/^@/, '');
  return isGroupId(bare) ? `<!subteam^${bare}>` : `@${bare}`;
};

/** Who they are, for people: `<@U0123>`, `<!subteam^S0123>` and `<#C0123>` become names on the way out. */
export const formatPrincipals = (principals: readonly Principal[]): string =>
  principals
    .map((one) =>
      one.kind === 'user'
        ? `<@${one.id}>`
        : one.kind === 'group'
          ? formatGroup(one.name)
          : `the members of <#${one.id}>`,
    )
    .join(', ');

/** An MCP client on record: `mcp:<name>`, which is nobody's Slack id. */
export const mcpPrincipal = (name: string): string => `mcp:${name}`;
export const isMcpPrincipal = (by: string | null): by is string => by?.startsWith('mcp:') === true;

/** A program that calls the HTTP API, on record: `api:<name>`, which is nobody's Slack id either. */
export const apiPrincipal = (name: string): string => `api:${name}`;
