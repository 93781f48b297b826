import { asksInShort } from '../../../incidents/questions/asks-in-short.ts';

const QUESTION =
  /\?\s*$|^\s*(?:(?:and|so|but|ok)\b[\s,]*)?(since when|until when|whats|whos|hows|wheres|whens|whose|anyone|anybody|am i|may i|before(?: (?:that|this|it))?\s*$|why|what|who|whom|when|where|which|how|is|are|was|were|did|does|do|has|have|can|could|should|status|summary|explain|tell|show|give|list|write|draft|describe|summari[sz]e)\b/i;
const STORY =
  /^\/?(?:sentry\s+)?(?:why|story|status|summary|what happened|what is going on)?\s*(?:inc-\d+)?\s*[?.!]*$/i;

/** Looks like something to be answered, rather than something to be known. */
export const isQuestion = (text: string): boolean => QUESTION.test(text) || asksInShort(text);

/** Asks for nothing beyond the incident's story: the record has all of it. */
export const asksForStory = (text: string): boolean => STORY.test(text.trim());
