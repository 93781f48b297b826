import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { containerFaults } from '../../../../playground/faults/containers/container-faults.ts';
import { engineNames } from '../../../../playground/faults/containers/shop-engine.ts';
import type { ShopFault } from '../../../../playground/faults/fault.ts';
import { claudeOnFaults, type FaultScript } from '../../../support/claude-on-faults.ts';
import { type ContainerScene, startContainerScene } from '../../../support/container-scene.ts';
import { missingFor } from '../../../support/engines.ts';

interface Case {
  readonly id: string;
  /** What is said of it, and what is asked for. */
  readonly cause: readonly string[];
  readonly command: string;
  readonly claude: FaultScript;
}

const whyDied = (container: string) => ({ tool: 'container_why_died', input: { container } });

const cases: readonly Case[] = [
  {
    id: 'container_down',
    cause: ['shop-cart is not running', 'ended with code 2'],
    command: 'container start shop-cart',
    claude: {
      object: 'shop-cart',
      reads: [whyDied('shop-cart')],
      cause: 'shop-cart is not running: it ended by itself with code 2.',
      claims: [
        {
          claim: 'shop-cart ended by itself with code 2.',
          read: 0,
          lines: ['It ended by itself with code 2.'],
        },
      ],
      act: { tool: 'container_start', input: { container: 'shop-cart' } },
    },
  },
  {
    id: 'crash_loop',
    cause: ['shop-orders dies and is started again and again', 'shop-queue', 'is not running'],
    command: 'container start shop-queue',
    claude: {
      object: 'shop-orders',
      reads: [whyDied('shop-orders'), whyDied('shop-queue')],
      cause:
        'shop-orders dies and is started again and again because shop-queue, which it needs, is not running.',
      claims: [
        { claim: 'shop-orders cannot reach shop-queue.', read: 0, lines: ['ECONNREFUSED shop-queue'] },
        {
          claim: 'shop-queue ended by itself with code 1.',
          read: 1,
          lines: ['It ended by itself with code 1.'],
        },
      ],
      act: { tool: 'container_start', input: { container: 'shop-queue' } },
    },
  },
  {
    id: 'oom_kill',
    cause: ['shop-reports', '32 MiB'],
    command: 'container start shop-reports',
    claude: {
      object: 'shop-reports',
      reads: [whyDied('shop-reports')],
      cause: 'shop-reports was killed; it has a memory limit of 32 MiB.',
      claims: [
        {
          claim: 'shop-reports was killed.',
          read: 0,
          lines: ['more memory than its limit', 'It was killed by SIGKILL'],
        },
        { claim: 'Its memory limit is 32 MiB.', read: 0, lines: ['memory limit 32'] },
      ],
      act: { tool: 'container_start', input: { container: 'shop-reports' } },
    },
  },
  {
    id: 'unhealthy',
    cause: ['shop-web', 'GET /health: no answer within 2 s'],
    command: 'container restart --time 10 shop-web',
    claude: {
      object: 'shop-web',
      reads: [whyDied('shop-web')],
      cause: 'shop-web runs and does not answer its health check: GET /health: no answer within 2 s.',
      claims: [
        { claim: 'The health check of shop-web fails.', read: 0, lines: ['exit code 1: GET /health'] },
      ],
      act: { tool: 'container_restart', input: { container: 'shop-web' } },
    },
  },
  {
    id: 'log_fills_disk',
    cause: ['shop-mailer writes', 'ERROR mail 4711 refused by the relay'],
    command: 'container restart --time 10 shop-mailer',
    claude: {
      object: 'shop-mailer',
      reads: [{ tool: 'container_logs', input: { container: 'shop-mailer', since_seconds: 10, tail: 50 } }],
      cause: 'shop-mailer writes one line again and again: ERROR mail 4711 refused by the relay.',
      claims: [
        { claim: 'shop-mailer repeats one line.', read: 0, lines: ['ERROR mail 4711 refused by the relay'] },
      ],
      act: { tool: 'container_restart', input: { container: 'shop-mailer' } },
    },
  },
  {
    id: 'port_clash',
    cause: ['shop-api', 'shop-debug has its port'],
    command: 'container stop --time 10 shop-debug',
    claude: {
      object: 'shop-api',
      reads: [whyDied('shop-api'), { tool: 'container_networks', input: {} }],
      cause: 'shop-api dies again and again because shop-debug has its port.',
      claims: [
        { claim: 'shop-api cannot have its port.', read: 0, lines: ['EADDRINUSE'] },
        {
          claim: 'shop-debug has a port of the host.',
          read: 1,
          lines: ['shop-debug has', 'shop-debug is on'],
        },
      ],
      act: { tool: 'container_stop', input: { container: 'shop-debug' } },
    },
  },
  {
    id: 'missing_image',
    cause: ['shop-search', 'The old container is still there'],
    command: 'container start shop-search',
    claude: {
      object: 'shop-search',
      reads: [whyDied('shop-search')],
      cause: 'shop-search is not running since a deployment ended it. The old container is still there.',
      claims: [{ claim: 'shop-search is not running.', read: 0, lines: ['shop-search: exited'] }],
      act: { tool: 'container_start', input: { container: 'shop-search' } },
    },
  },
];

/** By the runbooks, and by Claude who knows none. */
const ways = engineNames.flatMap((name) => (['runbooks', 'Claude'] as const).map((by) => ({ name, by })));

describe.each(ways)('$name, by $by', ({ name, by }) => {
  const missing = missingFor(name);
  const title = missing === null ? 'a fault of the playground' : `a fault (skipped: ${missing})`;
  describe.skipIf(missing !== null)(title, () => {
    let scene: ContainerScene;
    let faults: readonly ShopFault[];
    let claude: ScriptedClaude | undefined;
    beforeAll(async () => {
      if (by === 'Claude')
        claude = await createScriptedClaude({
          scenario: claudeOnFaults(
            'container',
            cases.map((each) => each.claude),
          ),
        });
      scene = await startContainerScene(name, claude?.url);
      faults = containerFaults(name, { engine: scene.engine, missing: null });
    });
    afterAll(async () => {
      await scene.stop();
      await claude?.close();
    });

    test('is one of those that are played here', () => {
      expect(faults.map(({ id }) => id)).toEqual(cases.map(({ id }) => `${name}_${id}`));
    });

    // All at once: seven incidents of one engine, each with its own cause.
    test.concurrent.each(cases)(
      '$id: alert, cause, card, approval, fixed',
      async ({ id, cause, command, claude: script }) => {
        const fault = faults.find((each) => each.id === `${name}_${id}`);
        if (!fault) throw new Error(`no fault ${id}`);
        const held = await fault.cause();
        try {
          expect(await fault.read()).toMatchObject({ holds: true });
          const incident = await scene.alert(fault);
          const asked = await scene.until(incident, ({ incident: { state } }) =>
            ['awaiting_approval', 'reported'].includes(state),
          );
          const found = JSON.stringify(asked.events.slice(-8));
          for (const words of by === 'Claude' ? [script.cause] : cause)
            expect(asked.incident.cause, found).toContain(words);
          expect(
            asked.actions.map((action) => action.command),
            found,
          ).toEqual([command]);
          expect(asked.events.filter(({ type }) => type === 'investigator.fallback')).toEqual([]);
          const done = await scene.approve(incident);
          expect(done.incident).toMatchObject({
            state: 'resolved',
            verdict: 'fixed',
            resolvedBy: 'confirmed',
          });
          expect(await fault.read()).toMatchObject({ holds: false });
        } finally {
          await held.release();
          await fault.undo();
        }
      },
    );
  });
});
