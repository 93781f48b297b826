import type Docker from 'dockerode';
import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { withoutBreaks } from '../../format.ts';
import { momentOf } from '../../inventory-parts.ts';
import { unreadLines } from '../describe.ts';
import { containerTool } from '../tool.ts';
import { portsInCommand, portsOf } from './inspect.ts';

/**
 * Which containers can reach each other. Data: `{ networks: [{ name, driver, internal, containers: [{ name, aliases, address }] }],
 * published: [{ container, running, up_seconds, up_since, port, host, host_port }], isolated: [name] }`; of a port that only the command of
 * a container on the host's network names, `port` and `host` are null.
 */
export const containerNetworks = containerTool.read({
  name: 'container_networks',
  description:
    'The networks of the engine with the containers on each, by which names and addresses they reach each other, the ports published on the host, and containers on no network. For “cannot connect” and “host not found” between containers, and for two that want one port.',
  kind: 'read',
  input: z.strictObject({}),
  timeoutMs: 15_000,
  async run(context) {
    const { engine } = context.system;
    const listed = await engine.get<readonly Docker.NetworkInspectInfo[]>(
      '/networks',
      'its networks',
      context,
    );
    const everything = await engine.containers(context);
    const { found: containers } = everything;
    const networks = listed.map(({ Name: name, Driver: driver, Internal: internal }) => ({
      name,
      driver,
      internal: internal ?? false,
      containers: containers.flatMap((each) => {
        const on = each.raw.NetworkSettings.Networks?.[name];
        return on
          ? [{ name: each.name, aliases: [...(on.Aliases ?? [])], address: on.IPAddress || null }]
          : [];
      }),
    }));
    const published = containers.flatMap((each) => {
      const { name: container, upSeconds } = each;
      const upSince = upSeconds === null ? null : (momentOf(each.startedAt) ?? null);
      const whose = { container, running: upSeconds !== null, up_seconds: upSeconds, up_since: upSince };
      const known = portsOf(each).map(({ container: port, host }) => ({
        ...whose,
        port,
        host,
        host_port: host.slice(host.lastIndexOf(':') + 1),
      }));
      const named = portsInCommand(each).filter((port) =>
        known.every(({ host_port: host }) => host !== port),
      );
      return [...known, ...named.map((port) => ({ ...whose, port: null, host: null, host_port: port }))];
    });
    const isolated = containers
      .filter(({ raw }) => Object.keys(raw.NetworkSettings.Networks ?? {}).every((name) => name === 'none'))
      .map(({ name }) => name);
    return {
      text: [
        `${count(networks.length, 'network')}.`,
        ...networks.map(
          (each) =>
            `${each.name} (${each.driver}${each.internal ? ', internal' : ''}): ${each.containers.map((one) => `${one.name}${one.address ? ` ${one.address}` : ''}`).join(', ') || 'no containers'}`,
        ),
        ...published.map(portLine),
        ...unreadLines(everything),
        ...(isolated.length > 0 ? [`On no network: ${isolated.join(', ')}`] : []),
      ]
        .map(withoutBreaks)
        .join('\n'),
      data: { networks, published, isolated },
    };
  },
});

function portLine(each: {
  readonly container: string;
  readonly running: boolean;
  readonly port: string | null;
  readonly host: string | null;
  readonly host_port: string;
}): string {
  const whose = each.running ? each.container : `${each.container}, which does not run,`;
  return each.host === null
    ? `${whose} is on the host’s network, and names ${each.host_port} in its command`
    : `${whose} has ${each.host} for its ${each.port}`;
}
