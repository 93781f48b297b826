import { CHANNELS, USERS } from '../../playground/slack/seed.ts';
import type { Message } from '../../playground/slack/slack-shapes.ts';
import { createMemoryDocuments } from '../../src/app/memory-documents.ts';
import type { IncidentId } from '../../src/core/ids.ts';
import { conversationStore } from '../../src/memory/documents/document.ts';
import type { NewDocument } from '../../src/memory/documents/new-document.ts';
import { seedStores } from '../../src/memory/documents/seed-stores.ts';
import { memorySummary } from '../../src/memory/documents/summary.ts';
import type { DryRunReport } from '../../src/memory/promotion/ports.ts';
import { createAuditLog } from '../../src/safety/audit/audit-chain.ts';
import type { SlackMemory } from '../../src/slack/ports.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { otherRunbooks } from '../integration/memory/documents/rig.ts';
import { LocalSlackClient, textOf } from './local-slack.ts';
import { type SlackScene, slackScene } from './slack-scene.ts';
import { domains } from './targets.ts';

/** A bot with memory on a local Slack: Amara is its admin. Steps of proposals are tried by what `trials` says next. */
export interface PromotionScene {
  readonly scene: SlackScene;
  readonly client: LocalSlackClient;
  readonly memory: SlackMemory;
  readonly trials: DryRunReport[];
  /** `drawn`: once its thread stands in #alerts, where the bot posts about once a second. */
  incident(drawn?: 'drawn'): Promise<IncidentId>;
  /** Waits for something said to one person alone, wherever: in the channel they are in, else as a direct message. */
  told(userId: string, words: RegExp): Promise<Message>;
  /** A draft of it by the detective. */
  draft(id: IncidentId, change?: Partial<NewDocument>): Promise<string>;
  /** Proposes such a draft, as the detective or a person; gives the id of the proposal. */
  propose(id: IncidentId, change?: Partial<NewDocument>, by?: string): Promise<string>;
  /** The card of a proposal as it stands in #sentry-admin; waits for it. */
  card(jobId: string, fits?: (card: Message) => boolean): Promise<Message>;
  close(): Promise<void>;
}

export async function promotionScene(): Promise<PromotionScene> {
  const scene = await slackScene();
  const { sql, records } = scene;
  await seedStores(sql);
  const trials: DryRunReport[] = [];
  const { documents, promotions, workspace } = createMemoryDocuments({
    sql,
    events: records,
    audit: createAuditLog(sql),
    enabled: true,
    isAdmin: async (user) => user === USERS.admin,
    runbooks: { tools: createRegistry(allTools), domains, sources: otherRunbooks() },
    dryRun: async () =>
      trials.shift() ?? { passed: true, target: 'shop-db', lines: ['✓ postgres_blocking_tree'] },
  });
  const memory: SlackMemory = {
    adminChannel: 'sentry-admin',
    admins: [{ kind: 'user', id: USERS.admin }],
    isAdmin: async (user) => user === USERS.admin,
    domains,
    promotions,
    documents,
    workspace,
    summary: () => memorySummary(sql, null),
    search: async () => ({ found: [], missing: null }),
  };
  await scene.bot({ memory, speed: 50 });
  const client = new LocalSlackClient(scene.slack.url);

  const draft = async (id: IncidentId, change: Partial<NewDocument> = {}): Promise<string> => {
    const written = await documents.write(
      { kind: 'agent', role: 'detective', incidentId: id },
      {
        place: { store: conversationStore, incidentId: id },
        document: {
          path: `drafts/${id.toLowerCase()}`,
          title: 'The report job blocks orders',
          content: 'The nightly report leaves a transaction open.\nEnd it, then ask its owner.',
          docType: 'note',
          ...change,
        },
        sources: [{ kind: 'incident', ref: id }],
      },
    );
    if (!written.ok) throw new Error(written.reason);
    return written.document.id;
  };

  return {
    scene,
    client,
    memory,
    trials,
    async incident(drawn) {
      const id = await scene.incident();
      if (!drawn) return id;
      await client.waitForMessage(
        (message) => message.blocks?.[0]?.block_id?.startsWith(`sentry:${id}:root`) ?? false,
      );
      return id;
    },
    async told(userId, words) {
      const fits = (message: Message): boolean => words.test(textOf(message));
      return Promise.any([
        client.waitForEphemeral(userId, fits),
        client.waitForMessage((message) => message.channel.startsWith('D') && fits(message)),
      ]);
    },
    draft,
    async propose(id, change, by = 'detective') {
      const proposed = await promotions.propose(
        { kind: 'agent', incidentId: id, userId: null },
        {
          ref: { id: await draft(id, change) },
          rationale: 'It came twice this week.',
          domain: 'postgres',
          by,
        },
      );
      if (!proposed.ok) throw new Error(proposed.reason);
      return proposed.jobId;
    },
    card: (jobId, fits = () => true) =>
      client.waitForMessage(
        (message) =>
          message.channel === CHANNELS.admin &&
          (message.blocks?.[0]?.block_id?.startsWith(`sentry:${jobId}:card`) ?? false) &&
          fits(message),
      ),
    close: () => scene.close(),
  };
}
