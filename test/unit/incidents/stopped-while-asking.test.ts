import { expect, it } from 'vitest';
import { EMPTY_RECALL } from '../../../src/core/memory.ts';
import { InvestigationStopped, withInvestigator } from '../../../src/incidents/work.ts';
import { anIncident, aRecord } from '../../support/incident-record.ts';

it('a stop while it asks around ends the look, and leaves neither a credential nor a watcher behind', async () => {
  const incident = anIncident({ target: null });
  const left: string[] = [];
  let stop = (): void => undefined;
  const deps = {
    claude: null,
    playbook: { name: 'playbook' },
    vault: { mint: () => 'credential', revoke: (each: string) => left.push(each) },
    stops: { watch: (_: string, pressed: () => void) => ((stop = pressed), () => left.push('watcher')) },
    shutdown: new AbortController().signal,
    records: { load: async () => aRecord({ incident, actions: [], events: [] }) },
    context: {
      gathered: async (_: unknown, { signal }: { signal: AbortSignal }) => {
        stop();
        signal.throwIfAborted();
      },
    },
  };
  const run = { deps, incident, durably: (_: string, fn: () => unknown) => fn() } as never;
  await expect(
    withInvestigator(run, 'detective', EMPTY_RECALL, async () => expect.fail('it went on')),
  ).rejects.toThrow(InvestigationStopped);
  expect(new Set(left)).toEqual(new Set(['credential', 'watcher']));
});
