import { COUNT_LIMIT } from '../core/count.ts';
import { messageOf } from '../core/errors.ts';
import type { EventBus } from '../core/event-bus.ts';
import type { Log } from '../core/log.ts';
import type { Documents } from '../memory/documents/documents.ts';
import { memorySummary } from '../memory/documents/summary.ts';
import { createPromotions, type PromotionsDeps } from '../memory/promotion/promotions.ts';
import { createWorkspaceMemory } from '../memory/promotion/workspace-memory.ts';
import type { WorkspaceRunbooks } from '../memory/promotion/workspace-runbooks.ts';
import type { Runbook } from '../runbooks/runbook.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import type { SlackMemory } from '../slack/ports.ts';

/** A trial that failed by a fault is made again after so long. */
const RETRY_MS = 10_000;

interface WorkspaceDeps extends PromotionsDeps {
  readonly audit: AuditLog;
  readonly documents: Documents;
  readonly promoted: WorkspaceRunbooks;
  readonly memory: {
    readonly searchForPerson: SlackMemory['search'];
    /** Makes promoted runbooks found by search, and those that are none any more not. */
    indexPromoted(runbooks: readonly Runbook[]): Promise<void>;
    /** Sends to Chroma what waits for it. */
    flushOutbox(): Promise<unknown>;
  };
  readonly bus: EventBus;
  readonly log: Log;
}

/**
 * Documents and promotion as the bot has them: steps of proposals are tried in the background, promoted runbooks put to use
 * and sent to Chroma as soon as the bus tells of them.
 */
export function createWorkspace(deps: WorkspaceDeps) {
  const { sql, log, bus, documents, promoted, memory } = deps;
  const made = {
    documents,
    promotions: createPromotions(deps),
    workspace: createWorkspaceMemory(deps),
  };
  const trials = new Map<string, Promise<void>>();
  const subscriptions: (() => Promise<void>)[] = [];
  let indexed: readonly Runbook[] | undefined;

  /** One at a time of each proposal; a fault is left to the next sweep. */
  function rehearse(jobId: string): void {
    if (trials.has(jobId)) return;
    const trial = made.promotions
      .rehearse(jobId)
      .catch((error: unknown) =>
        log.warn({ proposal: jobId, error: messageOf(error) }, 'a proposal could not be tried; tried again'),
      )
      .finally(() => trials.delete(jobId));
    trials.set(jobId, trial);
  }

  async function putToUse(): Promise<void> {
    await promoted.refresh();
    const now = promoted.current();
    if (now !== indexed) await memory.indexPromoted(now);
    indexed = now;
    await memory.flushOutbox();
  }

  return {
    ...made,
    forSlack: (admin: Pick<SlackMemory, 'adminChannel' | 'admins'>): SlackMemory => ({
      ...made,
      get adminChannel() {
        return admin.adminChannel;
      },
      get admins() {
        return admin.admins;
      },
      isAdmin: deps.isAdmin,
      domains: deps.runbooks.domains,
      summary: () => memorySummary(sql, COUNT_LIMIT),
      search: memory.searchForPerson,
    }),
    /** Resolves when the promoted runbooks are in use, or could not be read now. */
    async start(): Promise<void> {
      if (!deps.enabled) return;
      await promoted
        .refresh()
        .catch((error: unknown) =>
          log.warn({ error: messageOf(error) }, 'promoted runbooks could not be read; tried again'),
        );
      subscriptions.push(
        bus.subscribe({ on: { 'workspace.changed': 'sweep' }, sweep: putToUse }),
        bus.subscribe({
          on: { 'proposal.changed': 'sweep' },
          everyMs: RETRY_MS,
          sweep: async () => (await made.promotions.untried()).forEach(rehearse),
        }),
      );
    },
    async stop(): Promise<void> {
      await Promise.all(subscriptions.map((end) => end()));
      await Promise.all(trials.values());
    },
  };
}
