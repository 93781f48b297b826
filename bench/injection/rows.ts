import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';
import { decode, readLines } from '../scanner-quality.ts';

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

/** Phrases of our own, one a line, `+` before those that give orders, and our runbooks: what public rows have little of. */
export function ownRows(): readonly Row[] {
  const phrases = readFileSync(new URL('./own-rows.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => /^[+-] /.test(line))
    .map((line) => ownRow(line.slice(2), line.startsWith('+')));
  return [...phrases, ...ownTexts().map((text) => ownRow(text, false))];
}

const ownRow = (text: string, positive: boolean): Row => ({
  text,
  clear: text,
  positive,
  hard: true,
  tricky: false,
  group: 'own',
  kind: 'own',
});

/** The runbooks that the product seeds, in pieces as long as the rows are. */
function ownTexts(): readonly string[] {
  const root = packageRoot();
  return ['runbooks']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.md'))
        .map((path) => readFileSync(join(root, folder, path), 'utf8')),
    )
    .flatMap((text) => text.match(/[^]{1,1500}(?:\n|$)/g) ?? []);
}

/** Texts of operations: documents about attacks on models are counted apart. */
export const isOperations = ({ kind }: Row): boolean =>
  !kind.startsWith('security_doc') && kind !== 'general_prompt';
