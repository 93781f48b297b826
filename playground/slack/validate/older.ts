import type { Arguments } from '../arguments.ts';
import { SlackError } from '../slack-error.ts';
import type { Switches } from '../switches.ts';
import { isRecord, type Problem, spell } from './rules.ts';

/**
 * As a workspace answers that does not know a block's type yet. Throws `invalid_blocks`, or of a view `invalid_arguments`;
 * `blocks.validate` says `invalid_view` and the like instead.
 */
export function refuseOlder(switches: Switches, args: Arguments, method = ''): void {
  const unknown = switches.unknownBlocks();
  if (unknown.size === 0) return;
  for (const name of ['blocks', 'attachments', 'message', 'view']) {
    if (!args.has(name)) continue;
    const problems = unknownIn(args.json(name), `/${name}`, unknown);
    if (problems.length === 0) continue;
    const code = name === 'view' ? 'invalid_arguments' : 'invalid_blocks';
    throw new SlackError(method === 'blocks.validate' ? `invalid_${name}` : code, problems.map(spell));
  }
}

/** Types are told apart by name alone: no element or text object is called as a block is that is new. */
function unknownIn(value: unknown, at: string, unknown: ReadonlySet<string>): Problem[] {
  if (Array.isArray(value)) return value.flatMap((each, i) => unknownIn(each, `${at}/${i}`, unknown));
  if (!isRecord(value)) return [];
  const { type } = value;
  if (typeof type === 'string' && unknown.has(type))
    return [{ message: `unsupported type: ${type}`, at: `${at}/type` }];
  return Object.entries(value).flatMap(([name, each]) => unknownIn(each, `${at}/${name}`, unknown));
}
