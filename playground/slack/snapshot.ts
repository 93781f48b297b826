import type { BotConnection, FaultPanel, PageSnapshot } from './page-api.ts';
import { COMMANDS, PEOPLE, SHORTCUTS, TEAM } from './seed.ts';
import type { Workspace } from './workspace.ts';

/** Everything a page needs to draw itself. */
export function snapshotOf(workspace: Workspace, faults: FaultPanel, bot: BotConnection): PageSnapshot {
  const channels = workspace.channels();
  const byChannel = <T>(read: (id: string) => T): Record<string, T> =>
    Object.fromEntries(channels.map((channel) => [channel.id, read(channel.id)]));
  return {
    type: 'snapshot',
    team: { id: TEAM.id, name: TEAM.name },
    people: PEOPLE,
    users: workspace.users(),
    userGroups: workspace.userGroups(),
    channels,
    messages: byChannel((id) => workspace.messages(id)),
    ephemerals: workspace.ephemerals(),
    views: Object.fromEntries(workspace.viewStacks()),
    homes: Object.fromEntries(workspace.homes()),
    lastRead: workspace.lastRead(),
    commands: COMMANDS,
    shortcuts: SHORTCUTS,
    faults,
    statuses: workspace.statuses(),
    prompts: workspace.prompts(),
    titles: workspace.titles(),
    pins: byChannel((id) => workspace.pins(id)),
    bookmarks: byChannel((id) => workspace.bookmarks(id)),
    bot,
  };
}
