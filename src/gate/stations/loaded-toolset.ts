import { refuse } from '../../domain/errors.ts';
import type { Station } from '../station.ts';

/** Station 7: tools of a toolset (the memory write tools) are declared from the start but refused until it is loaded. */
export const loadedToolset: Station = ({ tool, credential }) =>
  tool?.toolset && !credential.toolsets.has(tool.toolset)
    ? refuse('TOOLSET_NOT_LOADED', `Load the "${tool.toolset}" toolset first.`)
    : undefined;
