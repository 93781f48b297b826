import type { types } from '@slack/bolt';
import { type Block, plain, small } from './blocks/build.ts';
import { LIMITS } from './blocks/limits.ts';
import { cut } from './blocks/text.ts';

/** A window that only shows something. */
export function modal(title: string, blocks: readonly Block[]): types.ModalView {
  return {
    type: 'modal',
    title: plain(cut(title, LIMITS.viewTitle)),
    close: plain('Close'),
    blocks: [...fitting(blocks)],
  };
}

/** As many as a window holds, and a word where others are missing: of one that is too large Slack shows nothing at all. */
function fitting(blocks: readonly Block[]): readonly Block[] {
  let room: number = LIMITS.viewBytes;
  const firstOut = blocks.findIndex((block) => {
    room -= Buffer.byteLength(JSON.stringify(block)) + 1;
    return room < 0;
  });
  if (firstOut < 0 && blocks.length <= LIMITS.viewBlocks) return blocks;
  const fits = Math.min(firstOut < 0 ? blocks.length : firstOut, LIMITS.viewBlocks - 1);
  return [
    ...blocks.slice(0, fits),
    small('There is more than a window holds. The command line shows all of it.'),
  ];
}
