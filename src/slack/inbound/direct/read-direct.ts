import { type IncidentId, parseIncidentId } from '../../../core/ids.ts';
import { COMMANDS } from '../commands/all-commands.ts';
import { readCommand, type Spoken } from '../commands/read-command.ts';
import { asksForStory, isQuestion } from '../events/question-words.ts';

/** What a person wants who writes to the bot alone. */
export type DirectWish =
  | { readonly kind: 'help' }
  | { readonly kind: 'thanks' }
  /** As `/sentry <text>` answers it. */
  | { readonly kind: 'command'; readonly text: string }
  /** Said in the wrong place: it belongs into a command or the incident's thread. */
  | { readonly kind: 'elsewhere'; readonly where: 'switch' | 'hint' | 'remember' }
  /** `bare`: only for the story; nothing beyond the record is asked. `named` null: the conversation's incident, or the newest. */
  | { readonly kind: 'question'; readonly named: IncidentId | null; readonly bare: boolean }
  | { readonly kind: 'problem'; readonly text: string };

/** What may stand before a command's name, besides `/sentry`. */
const SHOWN = /^(?:sentry\s+)?(?:(?:list|show)\s+)?(?=\S)/i;
const HELP = /^\/?(?:sentry\s+)?(?:help|test)\s*[?.!]*$/i;
/** A message of nothing but these is about no incident. */
const greetings = new Set('hi hello hey yo morning afternoon evening night'.split(' '));
const courtesies = new Set(
  'thanks thank thx cheers you so very much a lot for that the this all ok okay great good nice cool perfect awesome got it well done job work sentry there team everybody bye'.split(
    ' ',
  ),
);
const SWITCH = /^\/?(?:sentry\s+)?(?:(?:stop|resume|pause|approve|deny)\b|(?:split|merge)\s+inc-)/i;
const INVESTIGATE = /^\/?(?:sentry\s+)?(?:investigate|look into)\s+(?=\S)/i;
/** Reads a direct message. `about`: what its thread is about already, so that anything said there is about it. */
export function readDirect(given: string, about: IncidentId | null): DirectWish {
  const text = given.trim();
  if (text === '' || HELP.test(text)) return { kind: 'help' };
  const polite = readCourtesy(text);
  if (polite !== null) return { kind: polite };
  const said = text.replace(SHOWN, '').replace(/^open incidents\b/i, 'incidents open');
  const spoken = readCommand(said, COMMANDS, { incident: about, inThread: false });
  if (spoken && isCommandHere(spoken)) return { kind: 'command', text: spoken.text };
  if (SWITCH.test(text)) return { kind: 'elsewhere', where: 'switch' };
  if (/^hint\s*:/i.test(text)) return { kind: 'elsewhere', where: 'hint' };
  if (/^remember\s*:/i.test(text)) return { kind: 'elsewhere', where: 'remember' };
  if (INVESTIGATE.test(text)) return { kind: 'problem', text: text.replace(INVESTIGATE, '') };
  const named = text
    .split(/[\s,.;:!?()]+/)
    .filter((word) => /^inc-\d+$/i.test(word))
    .map((word) => parseIncidentId(word))[0];
  const bare = asksForStory(text);
  if (named !== undefined || bare || about !== null || isQuestion(text))
    return { kind: 'question', named: named ?? null, bare };
  return text.split(/\s+/).length < 2 ? { kind: 'help' } : { kind: 'problem', text };
}

/**
 * *why* is told with its follow-ups, and what is investigated has a message of its own to begin with. To stop is said with what: alone it
 * may mean an answer that is under way as well as everything.
 */
const isCommandHere = ({ name, text }: Spoken): boolean =>
  !['why', 'investigate', 'help'].includes(name) && !/^(?:stop|resume)$/.test(text);

/** Null: more than a courtesy is said. */
export function readCourtesy(text: string): 'help' | 'thanks' | null {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (!words.every((word) => greetings.has(word) || courtesies.has(word))) return null;
  return words.some((word) => greetings.has(word)) ? 'help' : 'thanks';
}
