import { splitWords } from '../text/split-words.ts';

/**
 * The offline embedding needs 35 ms a chunk, and more than three of a text found nothing that three did not (bench/README.md):
 * the words find what stands further down.
 */
export const MAX_CHUNKS = 3;
/** It reads about a paragraph; longer ones blur. */
const CHARACTERS = 700;

/** What is embedded of an entry: its sections, each with the titles above it, identifiers as words. */
export function chunksOf(title: string, text: string): readonly string[] {
  const chunks: string[] = [];
  for (const { trail, body } of sectionsOf(text)) {
    const above = [title, ...trail.filter((heading) => heading !== title)].map(spelled).join(' › ');
    for (const piece of pieces(body)) chunks.push(`${above}\n${piece}`);
    if (chunks.length >= MAX_CHUNKS) break;
  }
  return chunks.length === 0 ? [spelled(title)] : chunks.slice(0, MAX_CHUNKS);
}

/** Runs of text under the same headings. */
export function sectionsOf(
  text: string,
): readonly { readonly trail: readonly string[]; readonly body: string }[] {
  const sections: { trail: readonly string[]; lines: string[] }[] = [{ trail: [], lines: [] }];
  let trail: { level: number; heading: string }[] = [];
  let fenced = false;
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    const found = fenced ? null : /^(#{1,6})\s+(.+?)\s*#*$/.exec(line);
    if (found) {
      const level = found[1]?.length ?? 1;
      trail = [...trail.filter((above) => above.level < level), { level, heading: found[2] ?? '' }];
      sections.push({ trail: trail.map(({ heading }) => heading), lines: [] });
    } else sections.at(-1)?.lines.push(line);
  }
  return sections
    .map(({ trail: above, lines }) => ({ trail: above, body: lines.join('\n').trim() }))
    .filter(({ body }) => body !== '');
}

function pieces(body: string): readonly string[] {
  const joined: string[] = [];
  for (const paragraph of body.split(/\n{2,}/)) {
    const last = joined.at(-1);
    if (last !== undefined && last.length + paragraph.length < CHARACTERS)
      joined[joined.length - 1] = `${last}\n\n${paragraph}`;
    else joined.push(paragraph.slice(0, CHARACTERS));
  }
  return joined;
}

/** `KubePodCrashLooping` says nothing to the model, `kube pod crash looping` does. */
function spelled(title: string): string {
  return title.replace(/[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*/g, (word) => {
    const parts = splitWords(word);
    return parts.length > 1 ? parts.join(' ') : word;
  });
}
