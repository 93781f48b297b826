import { countUpTo } from '../core/count.ts';
import type { Incident } from '../core/incident.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import { type AgentSessions, createAgentSessions } from './inbound/direct/agent-session.ts';
import { createDirectMessages, type DirectMessages } from './inbound/direct/direct-messages.ts';
import { createOutbound, type Outbound } from './outbound/outbound.ts';
import { RateLimiters } from './outbound/pacing.ts';
import { sharedPace } from './outbound/shared-pace.ts';
import type { OutboundStore } from './outbound/store.ts';
import {
  type Drawing,
  isApprovals,
  isBurst,
  isDirect,
  isMute,
  isProposal,
  type SubjectId,
} from './outbound/subject.ts';
import { type Audience, type Say, tell } from './outbound/tell.ts';
import { webClient } from './outbound/web-client.ts';
import { nameEverybody } from './people/name-everybody.ts';
import type { SlackWorkspace } from './people/slack-workspace.ts';
import type { SlackDeps } from './ports.ts';
import { draw } from './views/blocks/draw.ts';
import type { DrawOptions } from './views/blocks/slot.ts';
import { drawApprovals } from './views/draw-approvals.ts';
import { drawBurst } from './views/draw-burst.ts';
import { drawMute } from './views/draw-mute.ts';
import { createDrawOptions } from './views/draw-options.ts';
import { drawProposal } from './views/draw-proposal.ts';

/** What the handlers share. */
export interface SlackContext extends SlackWorkspace {
  readonly deps: SlackDeps;
  readonly outbound: Outbound;
  /** Direct messages with the bot, and what its agent pane shows. */
  readonly direct: DirectMessages;
  readonly sessions: AgentSessions;
  readonly drawOptions: (record: IncidentRecord) => Promise<DrawOptions>;
  readonly tell: (to: Audience, say: Say) => Promise<void>;
  /** `<@U…>` in words of ours as that person's name: these lines are plain text, and ring nobody. */
  readonly withNames: (text: string) => Promise<string>;
  readonly statusLines: () => Promise<readonly string[]>;
  /** The mode and whether Slack is reached: the first of them. */
  readonly modeLines: () => readonly string[];
}

export function createContext(deps: SlackDeps, store: OutboundStore, stopping: AbortSignal): SlackContext {
  const { workspace, log } = deps;
  const { client } = workspace;
  const drawOptions = createDrawOptions(deps, store);
  const paces = new RateLimiters(deps.speed, sharedPace(deps.sql), deps.editsPerMinute);
  const outbound = createOutbound({
    client: webClient(workspace.connection, log),
    store,
    log,
    paces,
    hasApprovals: deps.approvalsChannel !== null,
    drawing: (id) => drawingOf(deps, store, drawOptions, id),
  });
  const withNames = (line: string): Promise<string> => nameEverybody(workspace, line);
  const modeLines = (): readonly string[] => [
    deps.config.mode() === 'ACTIVE' ? 'Mode ACTIVE.' : 'Mode AUDIT: nothing is changed.',
    outbound.problem() ? `Slack: ${outbound.problem()}` : 'Slack: messages arrive.',
  ];
  return {
    ...workspace,
    deps,
    outbound,
    direct: createDirectMessages({ client, store, log, paces, stopping }),
    sessions: createAgentSessions(client, log),
    drawOptions,
    tell: async (to, say) => tell(client, log, to, { ...say, text: await withNames(say.text) }),
    withNames,
    modeLines,
    statusLines: async () => [...modeLines(), ...(await restOfStatus(deps, withNames))],
  };
}

/** What stands in Slack for a subject, as its record is now; null: there is nothing of that id, or it is not drawn. */
async function drawingOf(
  deps: SlackDeps,
  store: OutboundStore,
  drawOptions: SlackContext['drawOptions'],
  id: SubjectId,
): Promise<Drawing | null> {
  if (isDirect(id)) return null;
  if (isBurst(id)) return drawBurst(deps, id);
  if (isMute(id)) return drawMute(deps, id);
  if (isProposal(id)) return drawProposal(deps, store, id);
  if (isApprovals(id)) return drawApprovals(deps, store, id);
  const record = await deps.records.load(id);
  if (!record || (await waits(deps, record.incident)) || (await isToldByLead(deps, record.incident)))
    return null;
  const channel = record.incident.channel ?? (await deps.workspace.homeOf(record.alerts[0]?.deliveryKey));
  // Of what is deleted nothing is drawn: its messages stay as they stand. Whoever asks there is answered.
  if (record.incident.detailsDeletedAt !== null) return { slots: [], channel };
  return { slots: draw(record, await drawOptions(record)), channel };
}

/** It is muted, and nothing of it has been said: nothing is until that ends. */
async function waits({ mutes }: SlackDeps, { id, state, threadTs, mutedBy }: Incident): Promise<boolean> {
  if (threadTs !== null) return false;
  return mutedBy !== null || (state === 'open' && (await mutes.hold([id])).has(id));
}

/**
 * A part of another, and nothing of it has been said: the thread of the one that leads tells of it. Where that may not be told to those who
 * would read it here, it has its own.
 */
async function isToldByLead(
  { correlation, records, workspace }: SlackDeps,
  incident: Incident,
): Promise<boolean> {
  const { id, state, threadTs } = incident;
  if (threadTs !== null) return false;
  if (incident.mergedInto !== null) {
    // As it is on record: where its own readers may not know which leads, this may still be told there.
    const lead = (await records.incident(id))?.mergedInto;
    const leads = lead ? await records.incident(lead) : null;
    // One that is told of elsewhere itself has no thread to tell of this.
    if (leads === null || (leads.threadTs === null && leads.mergedInto !== null)) return false;
    return workspace.access.mayTell(incident, leads);
  }
  // Asked before its turn: else a thread would begin for what is a part of another a moment later.
  return state === 'open' && (await correlation.hold([id])).has(id);
}

async function restOfStatus(
  deps: SlackDeps,
  withNames: SlackContext['withNames'],
): Promise<readonly string[]> {
  const { open } = await deps.records.openCounts();
  const waiting = (await deps.memory.summary()).proposalsWaiting;
  return [
    `${countUpTo(open, 'open incident')}.`,
    ...(waiting > 0 ? [`${countUpTo(waiting, 'proposal')} for everybody’s memory: /sentry promotions.`] : []),
    ...(await Promise.all((await deps.statusLines()).map(withNames))),
  ];
}
