import { join } from 'node:path';
import { z } from 'zod';
import { choosePort } from '../infra/process/free-port.ts';
import { isRunning } from '../infra/process/process-identity.ts';
import { readStateFile, writeStateFile } from '../infra/process/state-file.ts';

const remembered = z.record(z.string(), z.int().min(1).max(65_535));
const child = z.object({ process: z.object({ pid: z.int(), startedAt: z.string() }) });

/**
 * The port of one of our playground's processes: the one it had last time if that is free or still its own, else the
 * wanted one, else a free one. Bookmarks and adopted processes stay good over restarts.
 */
export async function fixedPort(dataDir: string, name: string, wanted: number | null): Promise<number> {
  const file = join(dataDir, 'ports.json');
  const known = readPorts(file);
  const last = known[name];
  const own = last !== undefined && isOwn(join(dataDir, name, 'child.json'));
  const port = own ? last : (await choosePort(last ?? (wanted || undefined))).port;
  if (port !== last) writeStateFile(file, JSON.stringify({ ...readPorts(file), [name]: port }));
  return port;
}

function readPorts(file: string): Readonly<Record<string, number>> {
  const text = readStateFile(file);
  if (text === undefined) return {};
  const parsed = remembered.safeParse(safeJson(text));
  return parsed.success ? parsed.data : {};
}

function isOwn(stateFile: string): boolean {
  const text = readStateFile(stateFile);
  const parsed = text === undefined ? undefined : child.safeParse(safeJson(text));
  return parsed?.success === true && isRunning(parsed.data.process);
}

/** A file cut short by a crash counts as none. */
function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
