import { z } from 'zod';
import { freePort } from '../../../src/infra/process/free-port.ts';
import { readStateFile, writeStateFile } from '../../../src/infra/process/state-file.ts';
import { newTokens, type Tokens } from './identities.ts';
import { type Certificate, newCertificate } from './listen.ts';

/** By what a cluster is reached: what a kubeconfig tells of it. */
export interface Access {
  /** 0: any free one. */
  readonly port: number;
  readonly tokens: Tokens;
  readonly certificate: Certificate | null;
}

export const newAccess = async (tls: boolean): Promise<Access> => ({
  port: 0,
  tokens: newTokens(),
  certificate: tls ? await newCertificate() : null,
});

const kept = z.object({
  port: z.number(),
  tokens: z.object({ admin: z.string(), read: z.string(), act: z.string() }),
  certificate: z.object({ key: z.string(), cert: z.string() }),
});

/** The same at each start, so that a kubeconfig that somebody holds stays good. The file is its user's alone. */
export async function keptAccess(path: string): Promise<Access> {
  const text = readStateFile(path);
  if (text !== undefined) return kept.parse(JSON.parse(text));
  const access = { ...(await newAccess(true)), port: await freePort() };
  writeStateFile(path, JSON.stringify(access));
  return access;
}
