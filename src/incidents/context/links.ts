import { textsOf } from '../../core/alert-rule.ts';
import type { ContextPart } from './part.ts';

const MOST = 4;
const MAX_LENGTH = 200;

/** What the alert links to: its graph, and the runbook and dashboards that its annotations name. */
export const links: ContextPart = {
  name: 'links',
  label: 'Links',
  limitMs: 1_000,
  gather({ record: { alerts } }) {
    const told = alerts.flatMap(({ annotations, url }) => [
      ...textsOf(annotations).map(([key, text]) => [nameOf(key), text] as const),
      ...(url === null ? [] : [['source', url] as const]),
    ]);
    const found = new Map<string, string>();
    for (const [name, text] of told) {
      const link = safeLink(text);
      if (link !== null && !found.has(link)) found.set(link, name);
    }
    if (found.size === 0) return null;
    return {
      line: [...found]
        .slice(0, MOST)
        .map(([link, name]) => `${name} ${link}`)
        .join(', '),
    };
  },
};

/** `runbook_url` is a `runbook`. */
const nameOf = (key: string): string => key.replace(/_?(?:url|link)$/i, '').replaceAll('_', ' ') || 'link';

/** An address of the web that names no password and is short enough to be one; null: it is none. */
function safeLink(text: string): string | null {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^\s<>|"`]+$/i.test(trimmed) || !URL.canParse(trimmed)) return null;
  const { href, username, password } = new URL(trimmed);
  if (username !== '' || password !== '') return null;
  return href.length > MAX_LENGTH ? null : href;
}
