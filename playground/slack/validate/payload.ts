import { LIMITS } from '../limits.ts';
import { SlackError } from '../slack-error.ts';
import type { Attachment, Block, MessageMetadata } from '../slack-shapes.ts';
import { blockOn, type Surface, textLength } from './blocks.ts';
import { isRecord, list, type Problem, spell } from './rules.ts';

/**
 * Blocks of a message, checked as Slack does. Gives every block without one a `block_id`.
 * Throws `invalid_blocks` (with where and what), `invalid_blocks_format`, `msg_blocks_too_long`.
 */
export function acceptBlocks(value: unknown): Block[] {
  const parsed = parseJson(value, 'invalid_blocks_format');
  if (!Array.isArray(parsed)) throw new SlackError('invalid_blocks_format');
  const problems = checkBlocks(parsed, 'message', '/blocks', LIMITS.message.blocks);
  if (problems.length > 0) throw new SlackError('invalid_blocks', problems.map(spell));
  const markdown = parsed.filter((block) => isRecord(block) && block['type'] === 'markdown');
  if (textLength(parsed) > LIMITS.message.blockText || textLength(markdown) > LIMITS.markdown) {
    throw new SlackError('msg_blocks_too_long');
  }
  return named(parsed as Block[]);
}

/** Attachments of a message; their blocks are checked like a message's. Throws `invalid_attachments`. */
export function acceptAttachments(value: unknown): Attachment[] {
  const parsed = parseJson(value, 'invalid_attachments');
  if (!Array.isArray(parsed)) throw new SlackError('invalid_attachments');
  if (parsed.length > LIMITS.message.attachments) throw new SlackError('too_many_attachments');
  return parsed.map((attachment: unknown, index) => {
    if (!isRecord(attachment)) throw new SlackError('invalid_attachments');
    const id = { id: index + 1 };
    if (attachment['blocks'] === undefined) return { ...attachment, ...id };
    const blocks = attachment['blocks'];
    const at = `/attachments/${index}/blocks`;
    const problems = checkBlocks(blocks, 'message', at, LIMITS.message.blocks);
    if (problems.length > 0) throw new SlackError('invalid_attachments', problems.map(spell));
    return { ...attachment, ...id, blocks: named(blocks as Block[]) };
  });
}

/** Throws `invalid_metadata_format` or `metadata_too_large`. */
export function acceptMetadata(value: unknown): MessageMetadata {
  const parsed = parseJson(value, 'invalid_metadata_format');
  if (!isRecord(parsed)) throw new SlackError('invalid_metadata_format');
  const { event_type: type, event_payload: payload } = parsed;
  if (typeof type !== 'string' || type === '' || !isRecord(payload))
    throw new SlackError('invalid_metadata_format');
  if (Buffer.byteLength(JSON.stringify(parsed)) > LIMITS.message.metadataBytes) {
    throw new SlackError('metadata_too_large');
  }
  return { event_type: type, event_payload: payload };
}

/** Everything wrong with these blocks on this surface, including ids used twice. */
export function checkBlocks(value: unknown, surface: Surface, at: string, max: number): Problem[] {
  const problems: Problem[] = [];
  list(blockOn(surface), max, surface === 'message' ? 0 : 1)(value, at, problems);
  if (!Array.isArray(value)) return problems;
  const ids = new Set<unknown>();
  for (const { block, at: where } of withChildren(value, at)) {
    if (block['block_id'] !== undefined && ids.has(block['block_id'])) {
      problems.push({ message: '`block_id` already exists', at: `${where}/block_id` });
    }
    ids.add(block['block_id']);
    problems.push(...repeatedActions(block, where));
  }
  const count = (type: string): number =>
    value.filter((block) => isRecord(block) && block['type'] === type).length;
  if (count('table') > 1) problems.push({ message: 'only_one_table_allowed', at });
  if (count('data_visualization') > LIMITS.chart.perMessage)
    problems.push({
      message: `no more than ${LIMITS.chart.perMessage} data_visualization blocks allowed`,
      at,
    });
  if (count('plan') > 0 && count('task_card') > 0)
    problems.push({ message: 'plan and task_card exclude each other', at });
  return problems;
}

/** Blocks and those that stand in a container, each with where it stands. */
function withChildren(
  blocks: readonly unknown[],
  at: string,
): readonly { readonly block: Record<string, unknown>; readonly at: string }[] {
  return blocks.flatMap((block, index) => {
    if (!isRecord(block)) return [];
    const children = Array.isArray(block['child_blocks']) ? block['child_blocks'] : [];
    return [{ block, at: `${at}/${index}` }, ...withChildren(children, `${at}/${index}/child_blocks`)];
  });
}

function repeatedActions(block: Record<string, unknown>, at: string): Problem[] {
  if (!Array.isArray(block['elements'])) return [];
  const seen = new Set<unknown>();
  const problems: Problem[] = [];
  block['elements'].forEach((element: unknown, index) => {
    if (!isRecord(element) || element['action_id'] === undefined) return;
    if (seen.has(element['action_id'])) {
      problems.push({ message: '`action_id` already exists', at: `${at}/elements/${index}/action_id` });
    }
    seen.add(element['action_id']);
  });
  return problems;
}

/** As Slack does, every block and every interactive element gets an id if its sender gave none. */
export function named(blocks: readonly Block[]): Block[] {
  return blocks.map((block) => {
    const elements = block['elements'];
    return {
      ...block,
      block_id: block.block_id ?? randomId(),
      ...(Array.isArray(elements) && (block.type === 'actions' || block.type === 'context_actions')
        ? { elements: elements.map(identified) }
        : {}),
      ...(isRecord(block['accessory']) && block['accessory']['type'] !== 'image'
        ? { accessory: identified(block['accessory']) }
        : {}),
      ...(block.type === 'input' ? { element: identified(block['element']) } : {}),
      ...(block.type === 'container' ? { child_blocks: named(block['child_blocks'] as Block[]) } : {}),
    };
  });
}

function identified(element: unknown): unknown {
  return isRecord(element) && element['action_id'] === undefined
    ? { ...element, action_id: randomId() }
    : element;
}

function randomId(): string {
  return Math.random().toString(36).slice(2, 7);
}

/** Slack takes JSON in a form field or as it is in a JSON body. */
function parseJson(value: unknown, code: string): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new SlackError(code);
  }
}
