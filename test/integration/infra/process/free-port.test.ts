import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { choosePort, freePort, reservePort } from '../../../../src/infra/process/free-port.ts';

describe('choosing a free port', () => {
  it('never chooses one twice, not even at the same time, and none that outgoing connections may get', async () => {
    const ports = await Promise.all(Array.from({ length: 200 }, freePort));
    expect(new Set(ports).size).toBe(200);
    expect(Math.max(...ports)).toBeLessThan(32_768);
  });

  it('takes what is wanted when it is free, and says when it had to take another', async () => {
    const wanted = await freePort();
    expect(await choosePort(wanted)).toEqual({ port: wanted, moved: false });
    const holder = createServer().listen(wanted, '127.0.0.1');
    await new Promise((listening) => holder.once('listening', listening));
    const other = await choosePort(wanted);
    holder.close();
    expect(other.moved).toBe(true);
    expect(other.port).not.toBe(wanted);
  });

  it('leaves what somebody asked for, and says so when nothing is left', async () => {
    const asked = (port: number): boolean => port < 30_000 || port >= 30_040;
    for (let port = 20_000; port <= 32_767; port += 1) if (asked(port)) reservePort(port);
    expect(asked(await freePort())).toBe(false);
    for (let port = 30_000; port < 30_040; port += 1) reservePort(port);
    await expect(freePort()).rejects.toMatchObject({ code: 'NO_FREE_PORT' });
  });
});
