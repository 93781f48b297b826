import { join } from 'node:path';
import { z } from 'zod';
import { jsonOf } from '../core/json-of.ts';
import { choosePort } from '../infra/process/free-port.ts';
import { readStateFile, writeStateFile } from '../infra/process/state-file.ts';
import { findProgram } from '../infra/supervisor/program.ts';

const remembered = z.record(z.string(), z.int().min(1).max(65_535));

/**
 * The port of one of our playground's processes: the one it had last time if that is free or still its own, else the
 * wanted one, else a free one. Bookmarks and adopted processes stay good over restarts.
 */
export async function fixedPort(dataDir: string, name: string, wanted: number | null): Promise<number> {
  const file = join(dataDir, 'ports.json');
  const known = readPorts(file);
  const last = known[name];
  const own = last !== undefined && findProgram(join(dataDir, name)) !== undefined;
  const port = own ? last : (await choosePort(last ?? (wanted || undefined))).port;
  if (port !== last) writeStateFile(file, JSON.stringify({ ...readPorts(file), [name]: port }));
  return port;
}

/** The port one of them had last; undefined: it never ran here. */
export const rememberedPort = (dataDir: string, name: string): number | undefined =>
  readPorts(join(dataDir, 'ports.json'))[name];

/** A file cut short by a crash counts as none. */
function readPorts(file: string): Readonly<Record<string, number>> {
  const parsed = remembered.safeParse(jsonOf(readStateFile(file) ?? ''));
  return parsed.success ? parsed.data : {};
}
