import type { ToolPorts } from '../../src/tools/ports.ts';

/** For tests of tools that have nothing to do with hosts or documentation. */
export const noHosts: Pick<ToolPorts, 'host' | 'docs'> = {
  host: {
    host: () => {
      throw new Error('there are no hosts in this test');
    },
  },
  docs: { hosts: [], fetch: () => Promise.reject(new Error('there are no pages in this test')) },
};
