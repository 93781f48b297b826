import { z } from 'zod';
import { table } from '../../format.ts';
import { hostTool } from '../tool.ts';
import { commandLines } from './command-lines.ts';

type Listener = {
  readonly port: number;
  readonly address: string;
  readonly process: string | null;
  readonly pid: number | null;
};

/**
 * What takes TCP connections. Data: `{ ports: [{ port, address, process, pid }] }`, by port; process and pid are null where
 * Sentry may not look into the process of another account.
 */
export const listeningPorts = hostTool.read({
  name: 'listening_ports',
  description:
    'Which process listens at which TCP port of the host. For a service that does not start because its port is taken.',
  kind: 'read',
  input: z.strictObject({ port: z.number().int().min(1).max(65_535).optional() }),
  timeoutMs: 15_000,
  async run(context, { port }) {
    const lines = await commandLines(context, 'ss -H -l -t -n -p');
    const ports = lines
      .flatMap((line): readonly Listener[] => {
        const [, , , local = ''] = line.trim().split(/\s+/);
        const at = local.lastIndexOf(':');
        const who = [...line.matchAll(/\("((?:[^"\\]|\\.)*)",pid=(\d+)/g)];
        const found = { port: Number(local.slice(at + 1)), address: local.slice(0, at) };
        return who.length === 0
          ? [{ ...found, process: null, pid: null }]
          : who.map(([, name = '', pid]) => ({ ...found, process: name, pid: Number(pid) }));
      })
      .filter((one) => port === undefined || one.port === port)
      .toSorted((a, b) => a.port - b.port);
    return {
      text:
        table(
          ['port', 'address', 'process', 'pid'],
          ports.map((one) => [one.port, one.address, one.process, one.pid]),
        ).join('\n') || `Nobody listens${port === undefined ? '' : ` at port ${port}`}.`,
      data: { ports },
    };
  },
});
