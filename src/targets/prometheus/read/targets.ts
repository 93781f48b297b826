import { z } from 'zod';
import { clipLine } from '../../../core/clip.ts';
import { count } from '../../../core/count.ts';
import { more } from '../../format.ts';
import { MAX_SHOWN } from '../series.ts';
import type { ScrapeTarget } from '../system.ts';
import { prometheusTool } from '../tool.ts';

/** What is scraped, and what cannot be. Data: `{ total, down, targets: [{ job, instance, health, error, last_scrape }] }`, those that are down first. */
export const prometheusTargets = prometheusTool.read({
  name: 'prometheus_targets',
  description: 'What Prometheus scrapes, and whether it can: what is down has no metrics.',
  kind: 'read',
  input: z.strictObject({
    contains: z.string().min(1).max(100).optional().describe('A part of job or instance.'),
  }),
  timeoutMs: 15_000,
  async run(context, { contains }) {
    const all = await context.system.scrapeTargets(context);
    const part = contains?.toLowerCase() ?? '';
    const asked = all.filter(({ job, instance }) => `${job} ${instance}`.toLowerCase().includes(part));
    const ordered = asked.toSorted((one, other) => Number(isUp(one)) - Number(isUp(other)));
    const shown = ordered.slice(0, MAX_SHOWN);
    const down = asked.filter((target) => !isUp(target)).length;
    return {
      text: [
        `${count(asked.length, 'scrape target')}, ${down} of them not up.`,
        ...shown.map(
          ({ job, instance, health, error, lastScrape }) =>
            `${job} ${instance}: ${health}${error && ` (${clipLine(error, 200)})`}, ${lastScrape === null ? 'never scraped' : `last scraped ${lastScrape.slice(0, 19)}Z`}`,
        ),
        ...more(ordered.length, shown.length),
      ].join('\n'),
      data: {
        total: asked.length,
        down,
        targets: shown.map(({ lastScrape, ...target }) => ({ ...target, last_scrape: lastScrape })),
      },
    };
  },
});

const isUp = ({ health }: ScrapeTarget): boolean => health === 'up';
