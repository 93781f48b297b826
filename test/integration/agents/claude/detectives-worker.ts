import { parseArgs } from 'node:util';
import { LIMITS, startDetectives } from './several-detectives.ts';

/** A process whose detectives investigate the box, to be killed. Says `{"ready":true}` when it works. */
const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    api: { type: 'string', default: '' },
    policy: { type: 'string', default: '' },
    // Of one incident, US dollars.
    budget: { type: 'string', default: String(LIMITS.perIncidentUsd) },
  },
});
process.on('disconnect', () => process.exit(0));
await startDetectives({
  url: values.url,
  api: values.api,
  policyPath: values.policy,
  machine: { broken: true, generation: 1, effects: 0, helps: true },
  limits: { ...LIMITS, perIncidentUsd: Number(values.budget) },
});
process.stdout.write('{"ready":true}\n');
