import type { types } from '@slack/bolt';
import { type Block, plain } from './blocks/build.ts';
import { LIMITS } from './blocks/limits.ts';
import { cut } from './blocks/text.ts';

/** A window that only shows something. */
export function modal(title: string, blocks: readonly Block[]): types.ModalView {
  return {
    type: 'modal',
    title: plain(cut(title, LIMITS.viewTitle)),
    close: plain('Close'),
    blocks: blocks.slice(0, LIMITS.viewBlocks),
  };
}
