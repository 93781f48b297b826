import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';
import { conventions } from '../../src/memory/documents/conventions.ts';
import { decode, readLines } from '../scanner-quality.ts';
import { randomFrom } from './random.ts';

/** A text that gives orders to a model, or one that does not. */
export interface Row {
  readonly text: string;
  /** The text as the model is to learn it: in clear where it is encoded. */
  readonly clear: string;
  readonly positive: boolean;
  /** The wording itself gives orders; or marking it does harm. */
  readonly hard: boolean;
  /** Says ignore, override, prompt, … in the ordinary sense. */
  readonly tricky: boolean;
  /** Where it is from: rows of one source are alike. */
  readonly group: string;
  readonly kind: string;
}

/** Of a folder with `positives.NAME.jsonl` and `negatives.NAME.jsonl`. */
export function readRows(folder: string, name: 'train' | 'dev'): readonly Row[] {
  const from = (what: 'positives' | 'negatives') =>
    readLines(join(folder, `${what}.${name}.jsonl`)).map((row): Row => {
      const text = decode(row['text_b64']);
      const kind = String(row['kind']);
      return {
        text,
        clear: kind === 'obfuscated' && row['payload_b64'] !== undefined ? decode(row['payload_b64']) : text,
        positive: what === 'positives',
        hard: row['strict'] === 'hard' || row['strict'] === undefined,
        tricky: row['tricky'] === true,
        group: String(row['group'] ?? row['source']),
        kind,
      };
    });
  return [...from('positives'), ...from('negatives')];
}

/** How many of the sentences that a pattern stands for are learnt. */
const OF_EACH = 12;
/** A sentence that has so many words in a row with a row of the data is no phrase of our own. */
const SAME_WORDS = 6;

/**
 * What public rows have little of: phrases of our own, one a line, `+` before those that give orders, `{a|b}` where words may be
 * exchanged; and our runbooks. Sentences out of `{a|b}` that stand in `rows` are left out: what is left out of training
 * may not come back this way.
 */
export function ownRows(rows: readonly Row[]): readonly Row[] {
  const lines = readFileSync(new URL('./own-rows.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => /^[+-] /.test(line));
  const known = new Set(rows.flatMap(({ clear }) => runsOfWords(clear)));
  const random = randomFrom(5);
  return [
    ...lines
      .filter((line) => !line.includes('{'))
      .map((line) => ownRow(line.slice(2), line.startsWith('+'), 'own')),
    ...ownTexts().map((text) => ownRow(text, false, 'own')),
    ...lines
      .filter((line) => line.includes('{'))
      .flatMap((line) =>
        sentencesOf(line.slice(2), random)
          .filter((text) => !runsOfWords(text).some((run) => known.has(run)))
          .map((text) => ownRow(text, line.startsWith('+'), 'phrase')),
      ),
  ];
}

function sentencesOf(pattern: string, random: () => number): readonly string[] {
  const sentences = Array.from({ length: OF_EACH }, () =>
    pattern.replace(/\{([^{}]*)\}/g, (_, words: string) => {
      const choices = words.split('|');
      return choices[Math.floor(random() * choices.length)] as string;
    }),
  );
  return [...new Set(sentences)];
}

function runsOfWords(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.slice(SAME_WORDS - 1).map((_, first) => words.slice(first, first + SAME_WORDS).join(' '));
}

const ownRow = (text: string, positive: boolean, kind: 'own' | 'phrase'): Row => ({
  text,
  clear: text,
  positive,
  hard: true,
  tricky: false,
  group: 'own',
  kind,
});

/** The documents and runbooks that the product seeds, and its own documentation, in pieces as long as the rows are. */
function ownTexts(): readonly string[] {
  const filesOf = (folder: string) =>
    readdirSync(join(packageRoot(), folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => readFileSync(join(packageRoot(), folder, path), 'utf8'));
  return [...conventions.map(({ content }) => content), ...filesOf('runbooks'), ...filesOf('docs')].flatMap(
    (text) => text.match(/[^]{1,1500}(?:\n|$)/g) ?? [],
  );
}

/** Texts of operations: documents about attacks on models are counted apart. */
export const isOperations = ({ kind }: Row): boolean =>
  !kind.startsWith('security_doc') && kind !== 'general_prompt';
