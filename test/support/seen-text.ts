import type { Slot } from '../../src/slack/views/blocks/slot.ts';

/** All that is seen of a message without a press: its words, the labels of its buttons and its strip; menus and folded parts are not. */
export function seenText({ blocks, strip }: Pick<Slot, 'blocks' | 'strip'>): string {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(walk);
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return;
    const part = node as Readonly<Record<string, unknown>>;
    if (part['type'] === 'overflow' || part['is_collapsed'] === true) return;
    if (part['type'] === 'date')
      found.push(String(part['format']).includes('{date') ? 'Nov 21, 10:05 AM' : '10:05 AM');
    else if (part['type'] === 'user') found.push(`@${'x'.repeat(15)}`);
    else if (typeof part['text'] === 'string') found.push(part['text']);
    else for (const each of Object.values(part)) walk(each);
    if (part['type'] === 'rich_text_section') found.push('\n');
  };
  walk(blocks);
  return `${found.join('')}${strip?.text ?? ''}`;
}
