import { phrases } from './synonyms.ts';
import { wordStem } from './word-stem.ts';

interface Node {
  readonly next: Map<string, Node>;
  readonly concepts: string[];
}

const root = buildTrie();

/** The conditions a line speaks of, in whichever words; at each place the longest wording counts. */
export function conceptsIn(stems: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (let start = 0; start < stems.length; start += 1) {
    let longest: readonly string[] = [];
    let node = root.next.get(stems[start] ?? '');
    for (let at = start + 1; node; at += 1) {
      if (node.concepts.length > 0) longest = node.concepts;
      node = node.next.get(stems[at] ?? '');
    }
    found.push(...longest);
  }
  return found;
}

function buildTrie(): Node {
  const top: Node = { next: new Map(), concepts: [] };
  for (const group of phrases) {
    for (const phrase of group) {
      let node = top;
      for (const word of phrase.split(' ')) {
        const stem = wordStem(word);
        const next = node.next.get(stem) ?? { next: new Map(), concepts: [] };
        node.next.set(stem, next);
        node = next;
      }
      node.concepts.push(`~${group[0]}`);
    }
  }
  return top;
}
