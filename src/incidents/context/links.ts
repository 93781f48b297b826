import { textsOf } from '../../core/alert-rule.ts';
import type { ContextPart } from './part.ts';

const MOST = 4;
const MAX_LENGTH = 200;
/** All of them: a link that is cut leads elsewhere. */
const MAX_LINE = 280;

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
    const all = [...found].map(([link, name]) => `${name} ${link}`);
    const shown: string[] = [];
    for (const each of all)
      if (shown.length < MOST && [...shown, each].join(', ').length <= MAX_LINE) shown.push(each);
    const left = all.length - shown.length;
    return { line: [...shown, ...(left === 0 ? [] : [`and ${left} more`])].join(', ') };
  },
};

/** `runbook_url` is a `runbook`. Whoever writes alerts chooses the keys: one that is no plain word is a `link`. */
function nameOf(key: string): string {
  const name = key.replace(/_?(?:url|link)$/i, '').replaceAll('_', ' ');
  return /^[a-z][a-z ]{0,19}$/i.test(name) ? name : 'link';
}

/** An address of the web that names no password and is short enough to be one; null: it is none. */
function safeLink(text: string): string | null {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^\s<>|"`]+$/i.test(trimmed) || !URL.canParse(trimmed)) return null;
  const { href, username, password } = new URL(trimmed);
  if (username !== '' || password !== '') return null;
  return href.length > MAX_LENGTH ? null : href;
}
