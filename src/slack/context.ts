import type { WebClient } from '@slack/web-api';
import type { IncidentRecord } from '../domain/incident-record.ts';
import type { DrawOptions } from './blocks/slot.ts';
import type { SlackDirectory } from './directory.ts';
import type { Identity } from './identity.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { People } from './people.ts';
import type { SlackDeps } from './ports.ts';
import type { Audience, Say } from './tell.ts';

/** What the handlers share. */
export interface SlackContext {
  readonly deps: SlackDeps;
  /** For what a person waits for; its limits are not shared with the outbound module's. */
  readonly client: WebClient;
  readonly outbound: Outbound;
  readonly people: People;
  readonly directory: SlackDirectory;
  readonly identity: () => Identity;
  readonly drawOptions: (record: IncidentRecord) => Promise<DrawOptions>;
  readonly tell: (to: Audience, say: Say) => Promise<void>;
  /** `<@U…>` in words of ours as that person's name. */
  readonly withNames: (text: string) => Promise<string>;
  readonly statusLines: () => Promise<readonly string[]>;
}
