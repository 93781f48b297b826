import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { ChromaClient, type Collection } from 'chromadb';
import { afterEach, expect, test } from 'vitest';
import {
  type EmbeddedChroma,
  type EmbeddedChromaOptions,
  startEmbeddedChroma,
} from '../../../../src/infra/chroma/embedded-chroma.ts';
import { processIdentity } from '../../../../src/infra/process/process-identity.ts';
import { endProcessesUnder } from '../../../support/processes-under.ts';
import { quiet } from '../../../support/quiet.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { heldBy, spawnHolder } from '../../../support/spawn-holder.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** A data folder whose server, whoever runs it, is gone after the test. */
function dataFolder(): string {
  const dataDir = join(scratchDir(), 'chroma');
  cleanUp.push(() => endProcessesUnder(dataDir));
  return dataDir;
}

function start(dataDir: string, more: Partial<EmbeddedChromaOptions> = {}): Promise<EmbeddedChroma> {
  return startEmbeddedChroma({ dataDir, log: quiet, ...more });
}

function collectionAt(port: number): Promise<Collection> {
  const client = new ChromaClient({ host: '127.0.0.1', port });
  return client.getOrCreateCollection({ name: 'kept', embeddingFunction: null });
}

function isAlive(pid: number): boolean {
  return processIdentity(pid) !== undefined;
}

test('keeps everything it acknowledged when killed with -9, and the port', async () => {
  const dataDir = dataFolder();
  const first = await start(dataDir);
  const before = await collectionAt(first.port);
  for (let n = 0; n < 100; n += 1) {
    await before.upsert({ ids: [`id-${n}`], embeddings: [[n, 1, 0]], documents: [`document ${n}`] });
  }
  process.kill(first.pid, 'SIGKILL');
  await first.exited;
  const second = await start(dataDir);
  expect(second).toMatchObject({ adopted: false, port: first.port });
  const after = await collectionAt(second.port);
  expect(await after.count()).toBe(100);
  expect((await after.get({ ids: ['id-99'] })).documents).toEqual(['document 99']);
});

test('is adopted when our process was killed with -9, and ends with the next one', async () => {
  const dataDir = dataFolder();
  const holder = await spawnHolder('chroma', dataDir);
  const orphan = heldBy(holder);
  await holder.end('SIGKILL');
  expect(isAlive(orphan.pid)).toBe(true);
  const server = await start(dataDir);
  expect(server).toMatchObject({ adopted: true, pid: orphan.pid, port: orphan.port });
  await server.stop();
  expect(isAlive(orphan.pid)).toBe(false);
});

test('starts once when several processes start it at once, and ends with the last of them', async () => {
  const dataDir = dataFolder();
  const holders = await Promise.all([1, 2].map(() => spawnHolder('chroma', dataDir)));
  const [one, two] = holders.map(heldBy);
  expect(one?.pid).toBe(two?.pid);
  await holders[0]?.end('SIGTERM');
  expect((await fetch(`${one?.url}/api/v2/heartbeat`)).status).toBe(200);
  await holders[1]?.end('SIGTERM');
  expect(isAlive(one?.pid ?? 0)).toBe(false);
});

test('takes another port, and says so, when its own was taken meanwhile', async () => {
  const dataDir = dataFolder();
  const first = await start(dataDir);
  await first.stop();
  const squatter = await listen(first.port);
  cleanUp.push(() => squatter.close());
  const { log, sentences } = recordedLog();
  const second = await start(dataDir, { log });
  expect(second.port).not.toBe(first.port);
  expect(sentences.join('\n')).toContain('port is taken');
  expect((await fetch(`${second.host}/api/v2/heartbeat`)).status).toBe(200);
});

test('is replaced when it hangs', async () => {
  const dataDir = dataFolder();
  const holder = await spawnHolder('chroma', dataDir);
  const hung = heldBy(holder);
  await holder.end('SIGKILL');
  process.kill(hung.pid, 'SIGSTOP');
  const server = await start(dataDir, { readyMs: 3_000 });
  expect(server.adopted).toBe(false);
  expect(isAlive(hung.pid)).toBe(false);
});

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
