import { join } from 'node:path';
import { OpsError } from '../../../core/errors.ts';
import type { Holder } from '../../process/holders.ts';
import { readStateFile, writeStateFile } from '../../process/state-file.ts';

/** What is remembered between starts, in `<dataDir>/server.json`. */
export interface ChromaState {
  readonly version: 1;
  readonly port?: number;
  readonly holders: readonly Holder[];
}

/** The empty state on a first start. @throws OpsError CHROMA_STATE */
export function readChromaState(dataDir: string): ChromaState {
  const path = join(dataDir, 'server.json');
  const text = readStateFile(path);
  if (text === undefined) return { version: 1, holders: [] };
  try {
    const state = JSON.parse(text) as ChromaState;
    if (state.version === 1 && Array.isArray(state.holders)) return state;
    throw new Error('fields are missing');
  } catch (error) {
    throw new OpsError('CHROMA_STATE', `${path} is not what Sentry wrote there`, {
      hint: `Remove ${path}: it only remembers the port.`,
      cause: error,
    });
  }
}

export function writeChromaState(dataDir: string, state: ChromaState): void {
  writeStateFile(join(dataDir, 'server.json'), `${JSON.stringify(state, null, 2)}\n`);
}
