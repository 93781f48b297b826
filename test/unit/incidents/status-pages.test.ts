import { expect, it, vi } from 'vitest';
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
    line: 'GitHub says “Partial System Outage” (“Actions fail”). Could not ask Stripe (it is down.)',
  });
  // An incident that is not over is told, whatever the page says above it.
  expect(await told(WELL, summary('none', 'All Systems Operational', 'Payouts late'))).toEqual({
    line: 'Stripe says “All Systems Operational” (“Payouts late”)',
  });
});

it('lets no page speak for another, or take its place', async () => {
  const forged = summary(
    'major',
    'down”; Stripe says “all is well',
    'x). Could not ask Stripe (it is down.)',
  );
  expect(await told(forged, WELL)).toEqual({
    line: 'GitHub says “down’; Stripe says ’all is well” (“x). Could not ask Stripe (it is down.)”)',
  });
  const long = summary('major', 'a'.repeat(9_000), ...Array.from({ length: 50 }, () => 'b'.repeat(9_000)));
  const found = await told(long, '!it is down.');
  expect(found?.line).toMatch(/, and 48 more\)\. Could not ask Stripe \(it is down\.\)$/);
  expect(found?.line.length).toBeLessThan(300);
});

it('checks no more of a page than it tells', async () => {
  const many = JSON.stringify({
    status: { indicator: 'major', description: 'down' },
    incidents: [{ name: 'a' }, { name: 'b' }, 0, 0, 0],
  });
  expect(await told(many, WELL)).toEqual({ line: 'GitHub says “down” (“a”, “b”, and 3 more)' });
});

it('asks a page once for many incidents', async () => {
  const hosts: string[] = [];
  const part = statusPages(pages, async (host) => (hosts.push(host), { ok: true, text: WELL }));
  await Promise.all([part.gather(about), part.gather(about)]);
  await part.gather(about);
  expect(hosts).toEqual(pages.map(({ host }) => host));
});

it('says that one hangs, and what the others told', async () => {
  vi.useFakeTimers();
  try {
    const part = statusPages(pages, async (host) =>
      host === 'status.stripe.com' ? new Promise<never>(() => undefined) : { ok: true, text: WELL },
    );
    const answer = expect(part.gather(about)).rejects.toThrow(
      /^Stripe \(no answer.*; no trouble told by GitHub$/,
    );
    await vi.advanceTimersByTimeAsync(part.limitMs - 1);
    await answer;
  } finally {
    vi.useRealTimers();
  }
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
