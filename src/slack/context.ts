import type { WebClient } from '@slack/web-api';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { AgentSessions } from './inbound/direct/agent-session.ts';
import type { DirectMessages } from './inbound/direct/direct-messages.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { Audience, Say } from './outbound/tell.ts';
import type { Access } from './people/access.ts';
import type { Channels } from './people/channels.ts';
import type { SlackDirectory } from './people/directory.ts';
import type { Identity } from './people/identity.ts';
import type { People } from './people/people.ts';
import type { SlackDeps } from './ports.ts';
import type { DrawOptions } from './views/blocks/slot.ts';

/** What the handlers share. */
export interface SlackContext {
  readonly deps: SlackDeps;
  /** For what a person waits for; its limits are not shared with the outbound module's. */
  readonly client: WebClient;
  readonly outbound: Outbound;
  readonly people: People;
  readonly directory: SlackDirectory;
  /** Who may read of an incident outside of its thread. */
  readonly access: Access;
  /** Direct messages with the bot, and what its agent pane shows. */
  readonly direct: DirectMessages;
  readonly sessions: AgentSessions;
  readonly identity: () => Identity;
  readonly drawOptions: (record: IncidentRecord) => Promise<DrawOptions>;
  readonly tell: (to: Audience, say: Say) => Promise<void>;
  /** `<@U…>` in words of ours as that person's name. */
  readonly withNames: (text: string) => Promise<string>;
  readonly statusLines: () => Promise<readonly string[]>;
  /** The mode and whether Slack is reached: the first of them. */
  readonly modeLines: () => readonly string[];
  readonly channels: Channels;
}
