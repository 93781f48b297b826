import { z } from 'zod';
import { cacheAnswers } from '../../core/cache-answers.ts';
import { messageOf, orThrow, type Refusal } from '../../core/errors.ts';
import { within } from '../../core/within.ts';
import type { ContextPart, PartFound } from './part.ts';
import { quoted } from './quoted.ts';

/** Reads a public page; refused where its host is none. */
export type FetchPage = (
  host: string,
  path: string,
) => Promise<{ readonly ok: true; readonly text: string } | Refusal>;

interface StatusPage {
  readonly name: string;
  readonly host: string;
}

/** Of Statuspage, with what is not over: https://doers.statuspage.io/api/v2/#summary (the same below each page's own host). */
const PATH = '/api/v2/summary.json';
const Summary = z.looseObject({
  status: z.looseObject({ indicator: z.string(), description: z.string() }),
  // One by one, and the first alone: of a million wrong ones each would be a fault to tell.
  incidents: z.array(z.unknown()).default([]),
});
const Named = z.looseObject({ name: z.string() });

/** Of each page, so that none takes the place of the others on the line. */
const [SAYS, MOST, NAME] = [60, 2, 50];
/** Of one page, the look for its address included: one that hangs is a gap, and the others have answered. */
const PAGE_MS = 9_000;
/** Many incidents at once ask a page once. */
const KEPT_MS = 60_000;

/** What others tell of their services: their word, and no cause. */
export function statusPages(pages: readonly StatusPage[], fetch: FetchPage): ContextPart {
  const ask = cacheAnswers((host) => asked(host, fetch), KEPT_MS);
  return {
    name: 'status-pages',
    label: 'Status pages',
    limitMs: 10_000,
    concerns: () => pages.length > 0,
    gather: async () =>
      told(await Promise.all(pages.map(async ({ name, host }) => ({ name, ...(await ask(host)) })))),
  };
}

function told(all: readonly (Asked & { readonly name: string })[]): PartFound {
  const [troubled, well, failed] = (['troubled', 'well', 'failed'] as const).map((kind) =>
    all.filter((one) => one.kind === kind).map(({ name, says }) => `${name}${says}`),
  ) as [string[], string[], string[]];
  const gap = failed.length === 0 ? '' : `. Could not ask ${failed.join(', ')}`;
  if (troubled.length > 0) return { line: `${troubled.join('; ')}${gap}` };
  if (failed.length > 0)
    throw new Error(
      `${failed.join(', ')}${well.length === 0 ? '' : `; no trouble told by ${well.join(', ')}`}`,
    );
  return { line: `no trouble told by ${well.join(', ')}`, nothing: true };
}

interface Asked {
  readonly kind: 'troubled' | 'well' | 'failed';
  /** What follows its name. */
  readonly says: string;
}

async function asked(host: string, fetch: FetchPage): Promise<Asked> {
  try {
    const { text } = orThrow(await within(PAGE_MS, fetch(host, PATH)));
    const { status, incidents } = Summary.parse(JSON.parse(text));
    const what = incidents.slice(0, MOST).map((one) => `“${quoted(Named.parse(one).name, NAME)}”`);
    if (status.indicator === 'none' && what.length === 0) return { kind: 'well', says: '' };
    const more = incidents.length > MOST ? `, and ${incidents.length - MOST} more` : '';
    return {
      kind: 'troubled',
      says: ` says “${quoted(status.description, SAYS)}”${what.length === 0 ? '' : ` (${what.join(', ')}${more})`}`,
    };
  } catch (error) {
    const why =
      error instanceof SyntaxError || error instanceof z.ZodError ? 'it is no Statuspage' : messageOf(error);
    return { kind: 'failed', says: ` (${why})` };
  }
}
