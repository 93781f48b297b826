import { z } from 'zod';
import type { Principal } from '../core/principal.ts';
import { readLimits } from '../safety/limits/throttle.ts';

export const principals = z
  .string()
  .default('')
  .transform((text, context): readonly Principal[] => {
    const found: Principal[] = [];
    for (const part of text
      .split(',')
      .map((piece) => piece.trim())
      .filter(Boolean)) {
      if (part.startsWith('group:') && part.length > 6) found.push({ kind: 'group', name: part.slice(6) });
      else if (part.startsWith('channel:') && part.length > 8)
        found.push({ kind: 'channel', id: part.slice(8) });
      else if (/^[UW][A-Z0-9]{2,}$/.test(part)) found.push({ kind: 'user', id: part });
      else context.addIssue(`"${part}" is neither a Slack user id (U…), group:<handle> nor channel:<id>`);
    }
    return found;
  });

export const list = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) =>
      text
        .split(',')
        .map((piece) => piece.trim())
        .filter(Boolean),
    );

export const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false', '1', '0'], { error: 'expected true or false' })
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true' || text === '1');

export const whole = (fallback: number, min: number, max: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback);
export const limits = z.string().superRefine((text, context) => {
  const read = readLimits(text);
  if (typeof read === 'string') context.addIssue(read);
});
/** `5/10m`: US dollars in so many minutes. */
export const costLimit = z.string().regex(/^\d{1,6}(\.\d{1,2})?\/[1-9]\d{0,3}m$/, {
  error: 'expected US dollars in so many minutes, like 5/10m',
});
export const dollars = (fallback: number) =>
  z.coerce.number().min(0, 'expected US dollars').default(fallback);
export const httpUrl = z.url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' });

/** As `fetch_docs` reads its list (src/safety/urls): a name of at least two labels. */
const isDocsHost = (host: string): boolean =>
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]$/u.test(
    host,
  );

/** The seed's two; whoever names others names these as well, or does without. */
export const docsHosts = list('docs.python.org,stackoverflow.com').refine(
  (hosts) => hosts.every(isDocsHost),
  {
    error: 'expected names of hosts, like docs.example.com: no addresses, ports, paths or wildcards',
  },
);

export const token = (prefix: string, what: string, where: string) =>
  z.string().refine((text) => text.startsWith(prefix), {
    error: (issue) => {
      const got = String(issue.input).slice(0, 5);
      return `starts with "${got}", expected ${what} (${prefix}…). ${where}`;
    },
  });
