import { jsonOf } from '../../../src/core/json-of.ts';
import { LIMITS } from '../limits.ts';
import { SlackError } from '../slack-error.ts';
import type { Block, View } from '../slack-shapes.ts';
import { plainText } from './objects.ts';
import { checkBlocks, named } from './payload.ts';
import { anything, boolean, fields, isRecord, type Problem, spell, string } from './rules.ts';

const modal = fields(
  { type: anything, title: plainText(LIMITS.view.title), blocks: anything },
  {
    submit: plainText(LIMITS.view.submit),
    close: plainText(LIMITS.view.close),
    private_metadata: string(LIMITS.view.privateMetadata, 0),
    callback_id: string(LIMITS.view.callbackId, 0),
    external_id: string(LIMITS.view.externalId, 0),
    clear_on_close: boolean,
    notify_on_close: boolean,
    submit_disabled: boolean,
  },
);
const home = fields(
  { type: anything, blocks: anything },
  {
    private_metadata: string(LIMITS.view.privateMetadata, 0),
    callback_id: string(LIMITS.view.callbackId, 0),
    external_id: string(LIMITS.view.externalId, 0),
  },
);

/** What an app asks to show. */
export type ViewContent = Pick<
  View,
  | 'type'
  | 'blocks'
  | 'private_metadata'
  | 'callback_id'
  | 'external_id'
  | 'clear_on_close'
  | 'notify_on_close'
> & { readonly title?: Block; readonly submit?: Block | null; readonly close?: Block | null };

/** Throws `invalid_arguments` with where and what, or `view_too_large`. */
export function acceptView(value: unknown, allowed: 'modal' | 'home'): ViewContent {
  const parsed = typeof value === 'string' ? jsonOf(value) : value;
  const problems: Problem[] = [];
  if (parsed === undefined && typeof value === 'string')
    throw new SlackError('invalid_arguments', ['[ERROR] failed to parse JSON [json-pointer:/view]']);
  if (!isRecord(parsed))
    throw new SlackError('invalid_arguments', ['[ERROR] must be an object [json-pointer:/view]']);
  if (parsed['type'] !== allowed) {
    problems.push({ message: `unsupported type: ${String(parsed['type'])}`, at: '/view/type' });
  } else {
    (allowed === 'modal' ? modal : home)(parsed, '/view', problems);
    problems.push(...checkBlocks(parsed['blocks'], allowed, '/view/blocks', LIMITS.view.blocks));
    problems.push(...missingSubmit(parsed));
  }
  if (problems.length > 0) throw new SlackError('invalid_arguments', problems.map(spell));
  if (Buffer.byteLength(JSON.stringify(parsed)) > LIMITS.view.bytes) throw new SlackError('view_too_large');
  return {
    type: allowed,
    blocks: named(parsed['blocks'] as Block[]),
    private_metadata: text(parsed['private_metadata']),
    callback_id: text(parsed['callback_id']),
    external_id: text(parsed['external_id']),
    clear_on_close: parsed['clear_on_close'] === true,
    notify_on_close: parsed['notify_on_close'] === true,
    ...(allowed === 'modal'
      ? {
          title: parsed['title'] as Block,
          submit: (parsed['submit'] as Block | undefined) ?? null,
          close: (parsed['close'] as Block | undefined) ?? null,
        }
      : {}),
  };
}

/** A modal with an input needs a submit button. */
function missingSubmit(view: Record<string, unknown>): Problem[] {
  if (view['type'] !== 'modal' || view['submit'] !== undefined || !Array.isArray(view['blocks'])) return [];
  const hasInput = view['blocks'].some((block) => isRecord(block) && block['type'] === 'input');
  return hasInput ? [{ message: 'missing required field: submit', at: '/view' }] : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
