import { join } from 'node:path';
import { z } from 'zod';
import { OpsError } from '../core/errors.ts';
import { jsonOf } from '../core/json-of.ts';
import { choosePort, isPortFree } from '../infra/process/free-port.ts';
import { readStateFile, writeStateFile } from '../infra/process/state-file.ts';
import { findProgram } from '../infra/supervisor/program.ts';

const remembered = z.record(z.string(), z.int().min(1).max(65_535));

/** What is wanted of the port of one of our servers. */
export interface WantedPort {
  /** Null or 0: any. */
  readonly port: number | null;
  /** The setting by which somebody asked for it: then it is that one or none. */
  readonly askedBy?: string;
  /** Ports that somebody has asked for, for others. */
  readonly others?: readonly number[];
  /** Told when it is another one than was to be expected. */
  readonly say: (line: string) => void;
}

/**
 * The port of one of our servers: the one that was asked for; else the one it had last time if that is free or still its
 * own, else the usual one, else a free one. Bookmarks and adopted processes stay good over restarts.
 *
 * @throws OpsError PORT_TAKEN when it was asked for and somebody else listens there.
 */
export async function fixedPort(dataDir: string, name: string, wanted: WantedPort): Promise<number> {
  const file = join(dataDir, 'ports.json');
  const { [name]: last } = readPorts(file);
  const isOwn = (port: number) => port === last && findProgram(join(dataDir, name)) !== undefined;
  const port =
    wanted.askedBy && wanted.port ? await insistOn(wanted.port, wanted.askedBy, isOwn) : await find();
  if (port !== last) writeStateFile(file, JSON.stringify({ ...readPorts(file), [name]: port }));
  return port;

  async function find(): Promise<number> {
    const expected = (last !== undefined && !wanted.others?.includes(last) ? last : wanted.port) || undefined;
    if (expected !== undefined && isOwn(expected)) return expected;
    const { port: found, moved } = await choosePort(expected);
    if (moved) wanted.say(`Port ${expected} is taken: using ${found}`);
    return found;
  }
}

async function insistOn(port: number, setting: string, isOwn: (port: number) => boolean): Promise<number> {
  if (isOwn(port) || (await isPortFree(port))) return port;
  throw new OpsError('PORT_TAKEN', `Port ${port} (${setting}) is taken by another program.`, {
    hint: `Stop that program, or set ${setting} to another port; 0 takes a free one.`,
  });
}

/** The port one of them had last; undefined: it never ran here. */
export const rememberedPort = (dataDir: string, name: string): number | undefined =>
  readPorts(join(dataDir, 'ports.json'))[name];

/** A file cut short by a crash counts as none. */
function readPorts(file: string): Readonly<Record<string, number>> {
  const parsed = remembered.safeParse(jsonOf(readStateFile(file) ?? ''));
  return parsed.success ? parsed.data : {};
}
