import type { Method, MethodCall } from '../slack-context.ts';
import { SlackError } from '../slack-error.ts';
import { acceptAttachments, acceptBlocks } from '../validate/payload.ts';
import { isRecord } from '../validate/rules.ts';
import { acceptView } from '../validate/view.ts';

const KINDS = ['blocks', 'message', 'view'] as const;

/** `blocks.validate`: checks blocks, a message or a view as if it were shown, and shows nothing. */
export const blockMethods: Readonly<Record<string, Method>> = {
  'blocks.validate': (call) => {
    const given = KINDS.filter((kind) => call.args.has(kind));
    const [kind] = given;
    if (kind === undefined || given.length > 1)
      throw new SlackError('invalid_arguments', ['[ERROR] give exactly one of blocks, message, view']);
    try {
      check(call, kind);
    } catch (error) {
      if (!(error instanceof SlackError)) throw error;
      const problems = error.messages.length > 0 ? error.messages : [error.code];
      throw new SlackError(`invalid_${kind}`, error.messages, { errors: problems.map(asError) });
    }
    return {};
  },
};

function check({ args }: MethodCall, kind: (typeof KINDS)[number]): void {
  const value = args.json(kind);
  if (kind === 'blocks') acceptBlocks(value);
  else if (kind === 'view') acceptView(value, isRecord(value) && value['type'] === 'home' ? 'home' : 'modal');
  else {
    if (!isRecord(value))
      throw new SlackError('invalid_message', ['[ERROR] must be an object [json-pointer:]']);
    if (value['blocks'] !== undefined) acceptBlocks(value['blocks']);
    if (value['attachments'] !== undefined) acceptAttachments(value['attachments']);
  }
}

/** A problem as this method lists it: of the other methods' spelling, `[ERROR] … [json-pointer:/…]`. */
function asError(spelled: string): Record<string, string> {
  const found = /^\[ERROR\] (.*) \[json-pointer:(.*)\]$/s.exec(spelled);
  return { pointer: found?.[2] ?? '', code: 'failed_constraint', message: found?.[1] ?? spelled };
}
