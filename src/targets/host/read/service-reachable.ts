import { z } from 'zod';
import { measureAt } from '../../../core/measure.ts';
import { hostTool } from '../tool.ts';
import { serviceName } from './service-status.ts';

/** Whether a service takes connections at its declared port. Data: `{ service, port, reachable, says }`. */
export const serviceReachable = hostTool.read({
  name: 'service_reachable',
  description:
    'Whether a declared service takes connections at its declared port. A service can run and answer nobody.',
  kind: 'read',
  measures: [
    measureAt('reachable', {
      name: 'reachable',
      label: 'the service takes connections at its port',
      unwell: {
        is: 'the service takes no connections at its port',
        was: 'the service took no connections at its port',
      },
      unit: '',
      healthy: 'at_least',
      bound: 1,
    }),
  ],
  input: z.strictObject({ service: serviceName }),
  timeoutMs: 15_000,
  async run(context, { service }) {
    const { port, reachable, says } = await context.system.reach(service, context);
    return { text: `${service}: ${says}`, data: { service, port, reachable, says } };
  },
});
