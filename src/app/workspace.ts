import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import { memoryRoutes } from '../http/memory-routes.ts';
import type { Route } from '../http/route.ts';
import type { MemoryEvents } from '../memory/documents/ports.ts';
import { memorySummary } from '../memory/documents/summary.ts';
import { listEpisodes } from '../memory/episodes/list-episodes.ts';
import type { IsAdmin, RunDry } from '../memory/promotion/ports.ts';
import { createWorkspaceRunbooks, type RunbookSource } from '../memory/promotion/workspace-runbooks.ts';
import type { KnownTools } from '../runbooks/check-tools.ts';
import type { Runbook } from '../runbooks/runbook.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import type { SlackMemory } from '../slack/ports.ts';
import { createMemoryDocuments } from './memory-documents.ts';

const SWEEP_MS = 10_000;

/**
 * Documents and promotion as the bot has them: steps of proposals are tried in the background, cards drawn again when
 * something changed, promoted runbooks put to use and sent to Chroma at once.
 */
export function createWorkspace(deps: {
  readonly sql: Sql;
  readonly events: MemoryEvents;
  readonly audit: AuditLog;
  readonly enabled: boolean;
  readonly isAdmin: IsAdmin;
  readonly tools: KnownTools;
  readonly files: () => readonly RunbookSource[];
  readonly dryRun: RunDry;
  /** A proposal's card is to be drawn again. */
  readonly changed: (jobId: string) => void;
  /** Makes promoted runbooks found by search, and those that are none any more not. */
  readonly index: (runbooks: readonly Runbook[]) => Promise<void>;
  /** Sends to Chroma what waits for it. */
  readonly flush: () => Promise<unknown>;
  readonly log: Log;
}) {
  const { sql, log, files, changed } = deps;
  const running = new Map<string, Promise<void>>();
  let sweeping: NodeJS.Timeout | undefined;
  let stopped = false;

  const runbooks = createWorkspaceRunbooks({ ...deps, files });
  const made = createMemoryDocuments({
    ...deps,
    runbooks: {
      tools: deps.tools,
      get sources() {
        return [...files(), ...runbooks.sources()];
      },
    },
    notifier: {
      proposed(jobId) {
        changed(jobId);
        rehearse(jobId);
      },
      decided(jobId) {
        changed(jobId);
        background(`decided ${jobId}`, async () => {
          await runbooks.refresh();
          await deps.flush();
        });
      },
      tried: changed,
    },
  });

  /** One at a time of each, and none once stopping. A fault is left to the next sweep. */
  function background(name: string, work: () => Promise<unknown>): void {
    if (stopped || running.has(name)) return;
    const one = work()
      .then(
        () => undefined,
        (error: unknown) =>
          log.warn({ work: name, error: messageOf(error) }, 'memory work failed; tried again'),
      )
      .finally(() => running.delete(name));
    running.set(name, one);
  }

  const rehearse = (jobId: string): void =>
    background(`rehearse ${jobId}`, () => made.promotions.rehearse(jobId));

  /** What was proposed by a command, or by a process that died before its steps were tried. */
  const sweep = (): void =>
    background('sweep', async () => {
      for (const jobId of await made.promotions.untried()) rehearse(jobId);
    });

  return {
    ...made,
    runbooks,
    forSlack: (admin: Pick<SlackMemory, 'adminChannel' | 'admins'>): SlackMemory => ({
      ...made,
      ...admin,
      isAdmin: deps.isAdmin,
      summary: () => memorySummary(sql),
    }),
    routes: (token: string | null): readonly Route[] =>
      memoryRoutes({
        ...made,
        summary: () => memorySummary(sql),
        episodes: (page) => listEpisodes(sql, page),
        audit: deps.audit,
        log,
        token,
      }),
    async start(): Promise<void> {
      if (!deps.enabled) return;
      await runbooks.start();
      sweeping = setInterval(sweep, SWEEP_MS);
      sweep();
    },
    async stop(): Promise<void> {
      stopped = true;
      clearInterval(sweeping);
      runbooks.stop();
      await Promise.all(running.values());
    },
  };
}
