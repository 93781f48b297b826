import { freePort } from '../../../src/infra/process/free-port.ts';
import { nothingHeld } from '../fault.ts';
import { type ContainerFault, containerRule, isLooping } from './container-fault.ts';

const API = 'shop-api';
const DEBUG = 'shop-debug';

export const portClash: ContainerFault = {
  id: 'port_clash',
  title: 'Port clash',
  description: 'While the shop’s API was away for a moment, somebody’s debug container took its port.',
  rule: containerRule('ContainerRestartLoop', API, 'cannot stay up'),
  async cause({ engine, make, atWork, stop, loops }) {
    const port = await freePort();
    const options = { ExposedPorts: { [`${port}/tcp`]: {} } };
    const host = { NetworkMode: 'host' };
    await make(API, server(API, port), { ...options, host: { ...host, RestartPolicy: { Name: 'always' } } });
    await atWork(API);
    await stop(API);
    await make(DEBUG, server(DEBUG, port), { ...options, host });
    await atWork(DEBUG);
    await engine.api.getContainer(API).start();
    await loops(API);
    return nothingHeld;
  },
  undo: ({ remove }) => remove(API, DEBUG),
  read: (shop) => isLooping(shop, API),
};

const server = (name: string, port: number): string => `
trap "kill $!; exit 0" TERM
echo "INFO ${name} listens on ${port}"
while true; do
  nc -l -p ${port} > /dev/null 2>&1 || {
    echo "Error: listen EADDRINUSE: address already in use 0.0.0.0:${port}"
    exit 1
  }
done &
wait $!`;
