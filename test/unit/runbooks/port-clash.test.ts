import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createPlaybook } from '../../../src/agents/playbook/create-playbook.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { scriptedWork } from '../agents/playbook/scripted-work.ts';

const LINE = 'Error: listen EADDRINUSE: address already in use 0.0.0.0:8080';
const container = { name: 'shop-api', service: null, running: false, restarts: 4, image: 'shop-api:1' };
const holder = { container: 'shop-debug', running: true, port: null, host: null, host_port: '8080' };

/** The second read came ten seconds after the first, so that the younger of the two seems to be the older. */
const answersFor = (upSince: string) => ({
  container_list: {
    text: 'shop-api: restarting',
    data: { containers: [container], total: 1, running: 0, not_running: 1 },
  },
  container_why_died: {
    text: `shop-api: restarting\n${LINE}`,
    data: {
      ...container,
      end: 'failed',
      says: 'It ended by itself with code 1.',
      signal: null,
      looping: true,
      log: LINE,
      image_before: null,
      made_seconds_ago: 8,
      made_at: '2026-11-27T03:58:20.000Z',
    },
  },
  container_networks: {
    text: 'shop-debug is on the host’s network, and names 8080 in its command',
    data: { networks: [], published: [{ ...holder, up_seconds: 12, up_since: upSince }], isolated: [] },
  },
});

it.concurrent.each([
  ['2026-11-27T03:58:26.000Z', 'after shop-api was made'],
  ['2026-11-27T03:58:14.000Z', 'had it before shop-api was made'],
])('who has the port since %s came %s', async (upSince, says) => {
  const { runbooks } = await loadRunbooks(fileURLToPath(new URL('../../../runbooks', import.meta.url)));
  const work = scriptedWork(answersFor(upSince), {
    incident: {
      domain: 'docker',
      title: 'shop-api cannot stay up',
      alertName: 'ContainerRestartLoop',
      incidentType: 'container_died',
      labels: { container: 'shop-api' },
    },
  });
  const playbook = createPlaybook({ runbooks: () => runbooks });
  const { rootCause } = await playbook.diagnose(work, await playbook.triage(work));
  expect(rootCause).toContain(says);
});
