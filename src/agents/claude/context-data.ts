import { clip } from '../../core/clip.ts';
import { describePart, saidToModels } from '../../core/context.ts';
import type { Investigation } from '../ports.ts';

/** About 300 tokens. */
const MAX_CHARS = 1_100;
/** These are told to it at length elsewhere. */
const TOLD_ELSEWHERE: readonly string[] = ['past-incidents', 'runbooks', 'what-changed', 'neighbours'];

/** What was gathered around it, for a first turn, and what could not be: never what people say to each other. Nothing where nobody gathered. */
export function contextData({ gathered = [] }: Investigation): object {
  const lines = saidToModels(gathered)
    .filter(({ name, state }) => state !== 'nothing' && !TOLD_ELSEWHERE.includes(name))
    .map((part) => clip(describePart(part), 280));
  while (lines.join('\n').length > MAX_CHARS) lines.pop();
  return lines.length === 0 ? {} : { context: lines };
}
