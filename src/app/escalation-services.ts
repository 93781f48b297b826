import type { IncidentId } from '../core/ids.ts';
import type { Principal } from '../core/principal.ts';
import { createEscalation, type Escalation } from '../escalation/escalation.ts';
import type { Mention, PagerConfig } from '../escalation/escalation-config.ts';
import { mentionOnly } from '../escalation/ladder.ts';
import { pageContent } from '../escalation/page-content.ts';
import { createPager } from '../escalation/pagers/create-pager.ts';
import { createSchedule } from '../escalation/schedules/create-schedule.ts';
import type { HandOver } from '../escalation/shift-changes.ts';
import { messageUrl } from '../slack/people/identity.ts';
import type { ReadContext } from '../sources/ports.ts';
import { readPageNews } from '../sources/registry.ts';
import { pageCounter } from './escalation-metrics.ts';
import type { Foundations } from './foundations.ts';

const MOST_APPROVERS = 5;

/** Without a section `escalation` in sentry.yaml, the group on call, else those who may approve, are mentioned, and nobody is paged. */
export function createEscalationServices(on: Foundations, handOver: HandOver): Escalation {
  const { settings, config, sql, records, log, slackWorkspace } = on;
  const section = config.escalation;
  const fallback = () => everybody(settings.oncallGroup, settings.approvers);
  const contentOf = async (id: IncidentId) => {
    const record = await records.load(id);
    if (!record) throw new Error(`there is no ${id}`);
    const { channel, threadTs } = record.incident;
    const url = channel && threadTs ? messageUrl(slackWorkspace.identity(), channel, threadTs) : null;
    return pageContent(record, url);
  };
  return createEscalation({
    sql,
    records,
    ladder: section ?? mentionOnly(fallback),
    pagers: new Map(section?.pagers.map((pager) => [pager.name, createPager(pager)])),
    schedules: new Map(section?.schedules.map((schedule) => [schedule.name, createSchedule(schedule)])),
    slack: slackWorkspace.directory,
    get fallback() {
      return fallback();
    },
    contentOf,
    handOver,
    counted: pageCounter(on.metrics, sql),
    log,
  });
}

/** Who is called where nothing else is said. */
function everybody(oncallGroup: string | null, approvers: readonly Principal[]): readonly Mention[] {
  if (oncallGroup !== null) return [{ kind: 'group', name: oncallGroup }];
  return approvers
    .flatMap((one): readonly Mention[] => (one.kind === 'channel' ? [] : [one]))
    .slice(0, MOST_APPROVERS);
}

/** Takes in what is told of a page of ours by a delivery to a source. False: it tells of something else. */
export type HearDelivery = (source: string, payload: unknown, context: ReadContext) => Promise<boolean>;

export function createHearDelivery(
  escalation: Pick<Escalation, 'hear'>,
  pagers: readonly Pick<PagerConfig, 'name' | 'type'>[],
): HearDelivery {
  return async (source, payload, context) => {
    const isSlack = source === 'slack';
    const names = pagers.filter(({ type }) => isSlack || type === source).map(({ name }) => name);
    const news = names.length === 0 ? null : readPageNews(source, payload, context);
    if (news === null) return false;
    // Any app may write so in a channel: it opens nothing, and takes no incident from anybody.
    return escalation.hear(isSlack ? { ...news, kind: 'echo' } : news, names);
  };
}
