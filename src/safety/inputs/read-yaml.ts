import { type Document, type ErrorCode, isAlias, LineCounter, parseDocument, visit } from 'yaml';

/** Somebody writes such a file by hand: one that is longer is another file. */
const MAX_CHARACTERS = 1024 * 1024;

/** What is wrong with a text, and where; line and column from 1. */
export interface YamlFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type ReadYaml =
  | {
      readonly ok: true;
      /** Undefined: the text says nothing. */
      readonly value: unknown;
      readonly document: Document;
      readonly lines: LineCounter;
    }
  /** At least one fault. */
  | { readonly ok: false; readonly faults: readonly YamlFault[] };

/**
 * What a text of YAML says, or what is wrong with it. Never throws, and quotes nothing of the text: the parser's own words show the
 * line, with whatever secret stands in it, and speak of its functions.
 *
 * @param aliases how much aliases (`*name`) may stand for; 0: there must be none
 */
export function readYaml(text: string, aliases = 100): ReadYaml {
  const lines = new LineCounter();
  const fault = (offset: number, message: string): YamlFault => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), message };
  };
  if (text.length > MAX_CHARACTERS)
    return { ok: false, faults: [fault(0, `over ${MAX_CHARACTERS} characters`)] };
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    logLevel: 'error',
  });
  if (document.errors.length > 0)
    return { ok: false, faults: document.errors.map(({ pos, code }) => fault(pos[0], inWords(code))) };
  const looped = loopOf(document);
  if (looped !== undefined && aliases > 0)
    return {
      ok: false,
      faults: [fault(looped, 'this alias (*) stands for what it is a part of; write it out')],
    };
  try {
    const value: unknown = document.toJS({ maxAliasCount: aliases }) ?? undefined;
    return { ok: true, value, document, lines };
  } catch {
    // It throws at an alias, or where the text is deeper than the stack.
    return { ok: false, faults: [fault(...whatThrew(document, aliases))] };
  }
}

/** Where an alias stands for something around it: whoever walks through such a value never comes to its end. */
function loopOf(document: Document): number | undefined {
  let found: number | undefined;
  visit(document, {
    Alias(_, alias, path) {
      const meant = alias.resolve(document);
      if (meant === undefined || !path.includes(meant)) return undefined;
      found = alias.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return found;
}

function whatThrew(document: Document, aliases: number): readonly [number, string] {
  let first: number | undefined;
  let dangling: number | undefined;
  visit(document, (_, node) => {
    if (!isAlias(node)) return;
    const offset = node.range?.[0] ?? 0;
    first ??= offset;
    if (!node.resolve(document)) dangling ??= offset;
  });
  if (first === undefined) return [0, 'nested too deeply'];
  if (aliases === 0) return [first, 'aliases (&, *) are not read; write it out, and names with * in quotes'];
  return dangling === undefined
    ? [first, 'its aliases (&, *) stand for too much; write it out']
    : [dangling, 'this alias (*) stands for nothing; put a text that begins with * in quotes'];
}

const inWords = (code: ErrorCode): string => words[code] ?? 'it is not clear what is meant here';

const ON_ONE_LINE = 'a name stands on one line, with ": " after it';
const QUOTES = 'a text that begins like this needs quotes';

const words: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_ALIAS: QUOTES,
  BAD_DQ_ESCAPE: 'a "\\" in double quotes escapes nothing here; use single quotes',
  BAD_INDENT: 'the indentation does not fit what stands around it',
  BAD_SCALAR_START: QUOTES,
  BLOCK_AS_IMPLICIT_KEY: ON_ONE_LINE,
  DUPLICATE_KEY: 'the same name stands twice',
  KEY_OVER_1024_CHARS: ON_ONE_LINE,
  MISSING_CHAR: 'a bracket or a quote is not closed, or a ":" or "," is missing',
  MULTILINE_IMPLICIT_KEY: ON_ONE_LINE,
  MULTIPLE_DOCS: 'a second document ("---") begins here; a file holds one',
  TAB_AS_INDENT: 'a tab is no indentation; use spaces',
};
