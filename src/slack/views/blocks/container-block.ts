import type { types } from '@slack/bolt';
import { type Block, plain } from './build.ts';
import { LIMITS } from './limits.ts';
import { cut, oneLine } from './text.ts';

type Child = types.ContainerBlock['child_blocks'][number];

/** Slack takes so many blocks in one container (docs.slack.dev, container block). */
const MOST_CHILDREN = 10;
/** Slack takes `data_visualization`, `plan`, `task_card` and `data_table` in no container; ours hold nothing but these. */
const CHILDREN: ReadonlySet<string> = new Set(['rich_text', 'section', 'context']);
const isChild = (block: Block): block is Child => CHILDREN.has(block.type);

/**
 * What stands folded under its title until somebody presses it: as many containers as Slack wants. Blocks that no container
 * takes stand below, open.
 */
export function folded(title: string, blocks: readonly Block[]): readonly Block[] {
  const children = blocks.filter(isChild);
  const containers: Block[] = [];
  for (let at = 0; at < children.length; at += MOST_CHILDREN)
    containers.push({
      type: 'container',
      title: plain(cut(oneLine(at === 0 ? title : 'Continued'), LIMITS.containerTitle)),
      child_blocks: children.slice(at, at + MOST_CHILDREN),
      is_collapsible: true,
      default_collapsed: true,
    });
  return [...containers, ...blocks.filter((block) => !isChild(block))];
}
