import { z } from 'zod';
import { messageOf, orThrow, type Refusal } from '../../core/errors.ts';
import type { ContextPart } from './part.ts';

/** Reads a public page; refused where its host is none. */
export type FetchPage = (
  host: string,
  path: string,
  signal: AbortSignal,
) => Promise<{ readonly ok: true; readonly text: string } | Refusal>;

interface StatusPage {
  readonly name: string;
  readonly host: string;
}

/** Of Statuspage, with what is not over: https://doers.statuspage.io/api/v2/#summary (the same below each page's own host). */
const PATH = '/api/v2/summary.json';
const Summary = z.looseObject({
  status: z.looseObject({ indicator: z.string(), description: z.string() }),
  incidents: z.array(z.looseObject({ name: z.string() })).default([]),
});

/** What others tell of their services: their word, and no cause. */
export const statusPages = (pages: readonly StatusPage[], fetch: FetchPage): ContextPart => ({
  name: 'status-pages',
  label: 'Status pages',
  limitMs: 10_000,
  concerns: () => pages.length > 0,
  async gather({ signal }) {
    const all = await Promise.all(pages.map((page) => asked(page, fetch, signal)));
    const [troubled, well, failed] = (['troubled', 'well', 'failed'] as const).map((kind) =>
      all.filter((one) => one.kind === kind).map(({ says }) => says),
    ) as [string[], string[], string[]];
    const gap = failed.length === 0 ? '' : `. Could not ask ${failed.join(', ')}`;
    if (troubled.length > 0) return { line: `${troubled.join('; ')}${gap}` };
    if (failed.length > 0)
      throw new Error(
        `${failed.join(', ')}${well.length === 0 ? '' : `; no trouble told by ${well.join(', ')}`}`,
      );
    return { line: `no trouble told by ${well.join(', ')}`, nothing: true };
  },
});

interface Asked {
  readonly kind: 'troubled' | 'well' | 'failed';
  readonly says: string;
}

async function asked({ name, host }: StatusPage, fetch: FetchPage, signal: AbortSignal): Promise<Asked> {
  try {
    const { text } = orThrow(await fetch(host, PATH, signal));
    const { status, incidents } = Summary.parse(JSON.parse(text));
    if (status.indicator === 'none' && incidents.length === 0) return { kind: 'well', says: name };
    const what = incidents.map((incident) => incident.name).join(', ');
    return {
      kind: 'troubled',
      says: `${name} says “${status.description}”${what === '' ? '' : ` (${what})`}`,
    };
  } catch (error) {
    const why =
      error instanceof SyntaxError || error instanceof z.ZodError ? 'it is no Statuspage' : messageOf(error);
    return { kind: 'failed', says: `${name} (${why})` };
  }
}
