import { type Term, termsOf } from '../text/terms.ts';

/** How much a term says about an entry; depends on the entry alone, so that writing one never changes another. */
export interface WeighedTerm {
  readonly term: string;
  /** 0–1: how much text and headings are about it; grows ever slower with each mention. */
  readonly weight: number;
  readonly inTitle: boolean;
  /** A word of the title, which a query may cover or leave out. */
  readonly isTitleWord: boolean;
  /** Whether entries are found by it; pairs in the text only order what words have found. */
  readonly posted: boolean;
}

/**
 * Changes whenever the same entry would be weighed otherwise; entries of another version are put into the index again
 * when they are next written.
 */
export const ANALYSIS_VERSION = 2;

/** BM25F: fields are added up before they saturate. Round numbers; bench/README.md has what moving them does. */
const SATURATION = 1.5;
const HEADINGS = 1;
const TITLE = 1;
/** Words; the lengths at which a mention counts once. Fixed, where BM25 has the average, so that scores stay put. */
const USUAL_TEXT = 200;
const USUAL_HEADINGS = 10;
const LENGTH_COUNTS = { text: 0.75, headings: 0.5 };

/** Every term of an entry with its weight, in no order. */
export function computeTermWeights(title: string, text: string): readonly WeighedTerm[] {
  const fields = fieldsOf(title, text);
  const titleTerms = termsOf(title);
  const inHeadings = count(fields.headings.flatMap(termsOf));
  const inText = count(termsOf(fields.text));
  const inTitle = count(titleTerms);
  const titleWords = new Set(titleTerms.filter(isWord).map((term) => term.text));
  const textNorm = 1 + LENGTH_COUNTS.text * (inText.words / USUAL_TEXT - 1);
  const headingsNorm = 1 + LENGTH_COUNTS.headings * (inHeadings.words / USUAL_HEADINGS - 1);
  const all = new Set([...inTitle.times.keys(), ...inHeadings.times.keys(), ...inText.times.keys()]);
  return [...all].map((term) => {
    const mentions = (field: Counted) => Math.log2(1 + (field.times.get(term) ?? 0));
    const titled = inTitle.times.has(term);
    const strength =
      mentions(inText) / textNorm + (HEADINGS * mentions(inHeadings)) / headingsNorm + (titled ? TITLE : 0);
    return {
      term,
      weight: strength / (SATURATION + strength),
      inTitle: titled,
      isTitleWord: titleWords.has(term),
      posted: titled || inHeadings.posted.has(term) || inText.posted.has(term),
    };
  });
}

interface Counted {
  readonly times: ReadonlyMap<string, number>;
  readonly posted: ReadonlySet<string>;
  readonly words: number;
}

function count(terms: readonly Term[]): Counted {
  const times = new Map<string, number>();
  const posted = new Set<string>();
  let words = 0;
  for (const term of terms) {
    times.set(term.text, (times.get(term.text) ?? 0) + 1);
    if (term.kind !== 'pair') posted.add(term.text);
    if (isWord(term)) words += 1;
  }
  return { times, posted, words };
}

function isWord(term: Term): boolean {
  return term.kind === 'word';
}

/** An entry's text apart from its headings. A heading that repeats the title is neither. */
function fieldsOf(
  title: string,
  source: string,
): { readonly headings: readonly string[]; readonly text: string } {
  const headings: string[] = [];
  const text: string[] = [];
  let fenced = false;
  for (const line of source.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) {
      fenced = !fenced;
      continue;
    }
    const heading = fenced ? null : /^#{1,6}\s+(.+)$/.exec(line);
    if (!heading) text.push(line);
    else if (heading[1]?.trim().toLowerCase() !== title.trim().toLowerCase()) headings.push(heading[1] ?? '');
  }
  return { headings, text: text.join('\n') };
}
