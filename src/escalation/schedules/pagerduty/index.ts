import { z } from 'zod';
import type { PagerDutyScheduleConfig } from '../../escalation-config.ts';
import type { OnCallPerson, OnCallSchedule } from '../../ports.ts';
import { ask, type Keeper } from '../ask.ts';

/** https://developer.pagerduty.com/api-reference/3a6b910f11050-list-all-of-the-on-calls */
const hosts = { us: 'https://api.pagerduty.com', eu: 'https://api.eu.pagerduty.com' } as const;

/** A turn without beginning or end is of somebody who always has it. */
const OnCalls = z.object({
  oncalls: z.array(
    z.object({
      user: z.object({
        id: z.string(),
        summary: z.string().nullish(),
        name: z.string().nullish(),
        email: z.string().nullish(),
      }),
      start: z.iso.datetime({ offset: true }).nullish(),
      end: z.iso.datetime({ offset: true }).nullish(),
    }),
  ),
});

export function createPagerDutySchedule(config: PagerDutyScheduleConfig): OnCallSchedule {
  const { name, key, schedule, region, url } = config;
  const keeper: Keeper = {
    title: `PagerDuty (schedule ${name})`,
    key,
    keyHint:
      'It is a REST API key, read-only is enough: PagerDuty → Integrations → API Access Keys. An integration key is another thing.',
    headers: {
      authorization: `Token token=${key}`,
      accept: 'application/vnd.pagerduty+json;version=2',
    },
  };
  return {
    name,
    async onCall(at, signal) {
      const question = new URL(`${(url ?? hosts[region]).replace(/\/+$/, '')}/oncalls`);
      question.searchParams.append('schedule_ids[]', schedule);
      question.searchParams.append('include[]', 'users');
      question.searchParams.append('time_zone', 'UTC');
      // The two must differ; whose turn only begins in this second is left out below.
      question.searchParams.append('since', at.toISOString());
      question.searchParams.append('until', new Date(at.getTime() + 1_000).toISOString());
      question.searchParams.append('limit', '100');
      const { oncalls } = await ask(keeper, question, OnCalls, signal);
      const people = new Map<string, OnCallPerson>();
      // A schedule of two escalation policies is told twice.
      for (const { user, start, end } of oncalls)
        if (
          (start == null || Date.parse(start) <= at.getTime()) &&
          (end == null || Date.parse(end) > at.getTime())
        )
          people.set(user.id, {
            name: user.name ?? user.summary ?? user.id,
            email: user.email ?? null,
            slackUser: null,
          });
      return [...people.values()];
    },
  };
}
