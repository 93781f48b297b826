import { expect, it } from 'vitest';
import type { ContextAbout } from '../../../src/incidents/context/part.ts';
import { type FetchPage, statusPages } from '../../../src/incidents/context/status-pages.ts';

const pages = [
  { name: 'GitHub', host: 'www.githubstatus.com' },
  { name: 'Stripe', host: 'status.stripe.com' },
];
const about = { signal: new AbortController().signal } as ContextAbout;
const summary = (indicator: string, description: string, ...incidents: string[]) =>
  JSON.stringify({
    page: {},
    status: { indicator, description },
    incidents: incidents.map((name) => ({ name })),
  });
const WELL = summary('none', 'All Systems Operational');

const told = (github: string, stripe: string) => {
  const fetch: FetchPage = async (host, path) => {
    expect(path).toBe('/api/v2/summary.json');
    const text = host === 'www.githubstatus.com' ? github : stripe;
    return text.startsWith('!')
      ? { ok: false, code: 'URL_FAILED', reason: text.slice(1) }
      : { ok: true, text };
  };
  return Promise.resolve(statusPages(pages, fetch).gather(about));
};

it('says who tells of trouble, and who could not be asked', async () => {
  expect(await told(summary('major', 'Partial System Outage', 'Actions fail'), '!it is down.')).toEqual({
    line: 'GitHub says “Partial System Outage” (Actions fail). Could not ask Stripe (it is down.)',
  });
  // An incident that is not over is told, whatever the page says above it.
  expect(await told(WELL, summary('none', 'All Systems Operational', 'Payouts late'))).toEqual({
    line: 'Stripe says “All Systems Operational” (Payouts late)',
  });
});

it('says who was asked where there is no trouble', async () => {
  expect(await told(WELL, WELL)).toEqual({ line: 'no trouble told by GitHub, Stripe', nothing: true });
});

it.each([
  ['!it is down.', 'it is down.'],
  ['<html>', 'it is no Statuspage'],
  ['{}', 'it is no Statuspage'],
  ['null', 'it is no Statuspage'],
])('never says that there is no trouble where one did not tell: %s', async (answer, why) => {
  await expect(told(answer, WELL)).rejects.toThrow(`GitHub (${why}); no trouble told by Stripe`);
});

it('is left out where none is named', () => {
  expect(statusPages([], () => Promise.reject(new Error('asked'))).concerns?.(about)).toBe(false);
});
