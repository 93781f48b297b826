import { z } from 'zod';
import type { OpsgenieScheduleConfig } from '../../escalation-config.ts';
import type { OnCallSchedule } from '../../ports.ts';
import { ask, type Keeper } from '../ask.ts';

/** https://docs.opsgenie.com/docs/who-is-on-call-api */
const hosts = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' } as const;

/** Of `flat=true`: the names by which people log in, which are their addresses. */
const OnCalls = z.object({ data: z.object({ onCallRecipients: z.array(z.string()) }) });

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function createOpsgenieSchedule(config: OpsgenieScheduleConfig): OnCallSchedule {
  const { name, key, schedule, region, url } = config;
  const keeper: Keeper = {
    title: `Opsgenie (schedule ${name})`,
    key,
    keyHint:
      'It is the key of an API integration that may read configuration; a team’s own key reads that team’s schedules only.',
    headers: { authorization: `GenieKey ${key}` },
  };
  return {
    name,
    async onCall(at, signal) {
      const base = (url ?? hosts[region]).replace(/\/+$/, '');
      const question = new URL(`${base}/v2/schedules/${encodeURIComponent(schedule)}/on-calls`);
      question.searchParams.append('scheduleIdentifierType', ID.test(schedule) ? 'id' : 'name');
      question.searchParams.append('flat', 'true');
      question.searchParams.append('date', at.toISOString().replace(/\.\d{3}Z$/, '+00:00'));
      const { data } = await ask(keeper, question, OnCalls, signal);
      return [...new Set(data.onCallRecipients)].map((recipient) => ({
        name: recipient,
        email: recipient.includes('@') ? recipient : null,
        slackUser: null,
      }));
    },
  };
}
