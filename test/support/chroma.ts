import { join } from 'node:path';
import { inject } from 'vitest';
import { startEmbeddedChroma } from '../../src/infra/chroma/embedded-chroma.ts';
import { quiet } from './quiet.ts';

export interface ScratchChroma {
  /** `http://127.0.0.1:<port>` */
  readonly host: string;
  /** Lets go of it; the server itself ends with the test run. */
  readonly stop: () => Promise<void>;
}

/**
 * The one real Chroma server of this test run. All tests share it: give collections names of your own, and start one
 * with `startEmbeddedChroma` for what other tests would feel.
 */
export async function scratchChroma(): Promise<ScratchChroma> {
  const dataDir = join(inject('scratchRoot'), 'servers', 'chroma');
  const { host } = await startEmbeddedChroma({ dataDir, log: quiet });
  return { host, stop: async () => undefined };
}
