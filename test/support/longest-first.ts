import { statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * About how many seconds the longest files take on a busy machine. Only their order counts: a long file that begins last
 * keeps one worker busy while the others have nothing left to do. What is not here comes after these, by its size.
 */
const SECONDS: Readonly<Record<string, number>> = {
  'test/chaos/kill-after-each-event.test.ts': 700,
  'test/chaos/outages.test.ts': 520,
  'test/chaos/stop-and-recover.test.ts': 500,
  'test/chaos/two-bots.test.ts': 320,
  'test/integration/memory/documents/memory-command.test.ts': 320,
  'test/chaos/watched-logs.test.ts': 300,
  'test/chaos/lost-notices.test.ts': 280,
  'test/chaos/switch-moments.test.ts': 250,
  'test/integration/targets/kubernetes/runbooks.test.ts': 240,
  'test/integration/truth/denials-ways.test.ts': 220,
  'test/e2e/page/page.test.ts': 200,
  'test/e2e/scene.test.ts': 200,
  'test/e2e/degraded.test.ts': 200,
  'test/integration/slack/promotion.test.ts': 190,
  'test/e2e/cli.test.ts': 180,
  'test/e2e/private-marker.test.ts': 180,
  'test/chaos/plans.test.ts': 170,
  'test/integration/truth/turns-cut-off.test.ts': 170,
  'test/integration/truth/run-the-rest.test.ts': 170,
  'test/integration/truth/claims.test.ts': 160,
  'test/unit/safety/screen/linear.test.ts': 160,
  'test/integration/actions/races.test.ts': 150,
  'test/e2e/planted-secrets.test.ts': 150,
  'test/e2e/promotion.test.ts': 150,
  'test/integration/agents/playbook/runbooks-on-a-real-server.test.ts': 140,
  'test/contract/containers/engine.test.ts': 140,
  'test/integration/mcp/hostile-server.test.ts': 130,
  'test/integration/infra/db/first-start.test.ts': 130,
  'test/integration/agents/claude/model-guard.test.ts': 120,
  'test/e2e/watched-logs.test.ts': 120,
  'test/e2e/two-faults.test.ts': 120,
  'test/unit/evals/recorded-incidents.test.ts': 100,
  'test/e2e/data-folder.test.ts': 100,
  'test/e2e/claude.test.ts': 100,
  'test/e2e/mcp-servers.test.ts': 100,
  'test/e2e/alertmanager.test.ts': 100,
  'test/integration/mcp/server.test.ts': 100,
  'test/chaos/ledger.test.ts': 100,
  'test/integration/truth/odd-models.test.ts': 90,
  'test/e2e/mcp.test.ts': 90,
  'test/e2e/host-plan.test.ts': 90,
  'test/e2e/targets-reload.test.ts': 90,
  'test/integration/targets/postgres/hostile-objects.test.ts': 90,
  'test/integration/truth/another-server.test.ts': 80,
  'test/e2e/claude-fails.test.ts': 80,
  'test/e2e/foreign-claude.test.ts': 80,
  'test/e2e/page/untrusted-text.test.ts': 80,
  'test/integration/targets/prometheus/prometheus.test.ts': 80,
  'test/integration/truth/private-channels.test.ts': 70,
  'test/integration/truth/plans.test.ts': 60,
  'test/integration/targets/host/acting.test.ts': 60,
  'test/e2e/page/reconnect.test.ts': 60,
  'test/integration/targets/host/undo.test.ts': 60,
  'test/integration/actions/hostile.test.ts': 50,
  'test/integration/core/read-again.test.ts': 50,
  'test/integration/truth/lasting.test.ts': 50,
  'test/integration/targets/hot-reload.test.ts': 40,
  'test/integration/infra/embedded/chroma.test.ts': 40,
  'test/contract/kubernetes/controllers.test.ts': 40,
  'test/integration/truth/questions-are-answered.test.ts': 40,
  'test/integration/memory/documents/documents.test.ts': 40,
  'test/integration/slack/inbox.test.ts': 40,
  'test/contract/host/over-ssh.test.ts': 40,
};

/**
 * Vitest's sequencer, without a memory of earlier runs: the longest files first, whichever project they are of. But a worker
 * that is not isolated takes another file only while the next in line is of its project, too, and else ends, with all that
 * it has loaded: so the files of such a project stand together, before those of which nobody waits for one.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const weighed = files.map((file) => {
      const path = relative(root, file.moduleId).split(sep).join('/');
      const seconds = SECONDS[path] ?? 0;
      const { isolate, sequence } = file.project.config;
      const block = isolate ? (seconds > 0 ? '1' : '3') : `2 ${file.project.name}`;
      return { file, group: sequence.groupOrder, block, seconds, size: statSync(file.moduleId).size };
    });
    weighed.sort(
      (a, b) =>
        a.group - b.group ||
        (a.block < b.block ? -1 : a.block > b.block ? 1 : 0) ||
        b.seconds - a.seconds ||
        b.size - a.size,
    );
    return weighed.map(({ file }) => file);
  }
}
