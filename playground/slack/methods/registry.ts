import type { Method } from '../slack-context.ts';
import { agentMethods } from './agents.ts';
import { blockMethods } from './blocks.ts';
import { canvasMethods } from './canvases.ts';
import { chatMethods } from './chat.ts';
import { streamMethods } from './chat-stream.ts';
import { conversationMethods } from './conversations.ts';
import { fileMethods } from './files.ts';
import { peopleMethods } from './people.ts';
import { pinMethods } from './pins.ts';
import { reactionMethods } from './reactions.ts';
import { teamMethods } from './team.ts';
import { viewMethods } from './views.ts';

/** Every Web API method this workspace knows; anything else is `unknown_method`. */
export const METHODS: ReadonlyMap<string, Method> = new Map(
  [
    teamMethods,
    blockMethods,
    chatMethods,
    streamMethods,
    conversationMethods,
    peopleMethods,
    reactionMethods,
    viewMethods,
    fileMethods,
    canvasMethods,
    agentMethods,
    pinMethods,
  ].flatMap((family) => Object.entries(family)),
);
