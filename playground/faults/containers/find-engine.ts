import { mkdtempSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../src/core/errors.ts';
import { type EngineName, IMAGE, importImage, OWN, type ShopEngine, shopEngine } from './shop-engine.ts';

/** An engine of this machine, ready to break; or why there is none, for people. */
export type FoundEngine =
  | { readonly engine: ShopEngine; readonly missing: null }
  | { readonly engine: null; readonly missing: string };

export const engineTitles: Readonly<Record<EngineName, string>> = { docker: 'Docker', podman: 'Podman' };
const howToStart: Readonly<Record<EngineName, string>> = {
  docker: 'Start it',
  podman: 'Start its service (systemctl --user start podman.socket)',
};
/** What is pulled where this machine has no busybox of its own to make an image of. */
const PULLED = 'busybox:1.36';

/** The first of these sockets that answers, with the shop's image in it and what an earlier run left there removed. */
export async function findEngine(name: EngineName, sockets: readonly string[]): Promise<FoundEngine> {
  let denied = false;
  for (const socket of sockets) {
    let engine: ShopEngine;
    try {
      await stat(socket);
      engine = await shopEngine(name, socket);
      await engine.api.ping();
    } catch (error) {
      denied ||= (error as { readonly code?: string }).code === 'EACCES';
      continue;
    }
    try {
      await removeAll(engine);
      await ensureImage(engine);
      return { engine, missing: null };
    } catch (error) {
      return { engine: null, missing: `${engineTitles[name]} cannot be used: ${messageOf(error)}` };
    }
  }
  const missing = denied
    ? `Your account may not use ${engineTitles[name]}’s socket. Give it the right, then restart the playground.`
    : `${engineTitles[name]} does not answer on this machine. ${howToStart[name]}, then restart the playground.`;
  return { engine: null, missing };
}

/** Removes the playground's containers and volumes, and nobody else's. */
export async function removeAll({ api, remove }: ShopEngine): Promise<void> {
  const own = await api.listContainers({ all: true, filters: OWN });
  await Promise.all(own.map(({ Id: id }) => remove(id)));
  const { Volumes: volumes } = await api.listVolumes({ filters: OWN });
  await Promise.all((volumes ?? []).map(({ Name: name }) => api.getVolume(name).remove()));
}

async function ensureImage(engine: ShopEngine): Promise<void> {
  const has = async () =>
    engine.api
      .getImage(IMAGE)
      .inspect()
      .then(
        () => true,
        () => false,
      );
  if ((await has()) && (await works(engine))) return;
  const dir = mkdtempSync(join(tmpdir(), 'sentry-shop-'));
  try {
    await importImage(engine, dir).catch(() => undefined);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  if ((await has()) && (await works(engine))) return;
  await pull(engine);
  if (await works(engine)) return;
  throw new Error(`there is no busybox on this machine, and ${PULLED} cannot be pulled`);
}

/** A busybox of this machine may need libraries that the image has not. */
async function works(engine: ShopEngine): Promise<boolean> {
  try {
    await engine.remove('shop-trial');
    await engine.run('shop-trial', { sh: 'exit 0' });
    const { StatusCode: code } = (await engine.api.getContainer('shop-trial').wait()) as {
      readonly StatusCode: number;
    };
    return code === 0;
  } catch {
    return false;
  } finally {
    await engine.remove('shop-trial');
  }
}

async function pull({ api }: ShopEngine): Promise<void> {
  const progress = await api.pull(PULLED);
  await new Promise((resolve, reject) =>
    api.modem.followProgress(progress, (error) => (error ? reject(error) : resolve(undefined))),
  );
  const [repo = '', tag = ''] = IMAGE.split(':');
  await api.getImage(PULLED).tag({ repo, tag });
}
