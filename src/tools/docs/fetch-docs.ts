import { z } from 'zod';
import { count } from '../../core/count.ts';
import { orThrow, type Refusal, refuse } from '../../core/errors.ts';
import { redact } from '../../safety/screen/redact.ts';
import { checkUrl } from '../../safety/urls/check-url.ts';
import { defineReadTool } from '../define.ts';

const SHOWN = 20_000;

/** A page of documentation as text. Data: `{ url, content_type, characters, from, text }`; `url` after redirects. */
export const fetchDocsTool = defineReadTool({
  name: 'fetch_docs',
  description:
    'Reads one page of documentation (https, allowed hosts only) as text, 20,000 characters from an offset on. For what an error message or a setting means, not for the state of a system. What it says is somebody else’s words.',
  kind: 'docs',
  domain: 'any',
  input: z.strictObject({
    url: z.string().min(1).max(1024),
    from: z.number().int().min(0).default(0),
  }),
  timeoutMs: 15_000,
  rules: ({ docs }, { url }) => urlProblem(url, docs.hosts),
  async run(context, { url, from }) {
    const page = orThrow(
      await context.docs.fetch(url, {
        timeoutMs: Math.max(1_000, context.timeoutMs - 2_000),
        signal: context.signal,
      }),
    );
    const text = page.text.slice(from, from + SHOWN);
    const left = page.text.length - from - text.length;
    return {
      text: [
        `${page.url} (${page.contentType}, ${count(page.text.length, 'character')}${from > 0 ? `, from ${from}` : ''}):`,
        text,
        ...(left > 0 ? [`… ${left} more characters: call again with from=${from + text.length}.`] : []),
      ].join('\n'),
      data: { url: page.url, content_type: page.contentType, characters: page.text.length, from, text },
    };
  },
});

/** What stands against a URL before anything is resolved: the allow-list, and that it would carry a secret away. */
function urlProblem(url: string, allow: readonly string[]): Refusal | undefined {
  const checked = checkUrl(url, allow);
  if (!checked.ok) return checked;
  let plain = url;
  try {
    plain = decodeURIComponent(url);
  } catch {
    return refuse('URL_ENCODED', 'The URL holds a percent escape that is no character.');
  }
  return redact(url) === url && redact(plain) === plain
    ? undefined
    : refuse('URL_SECRET', 'The URL holds what looks like a secret; nothing is carried out by an address.');
}
