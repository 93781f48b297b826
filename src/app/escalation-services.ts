import type { IncidentId } from '../core/ids.ts';
import type { Principal } from '../core/principal.ts';
import { createEscalation, type Escalation } from '../escalation/escalation.ts';
import type { Mention } from '../escalation/escalation-config.ts';
import { mentionOnly } from '../escalation/ladder.ts';
import { pageContent } from '../escalation/page-content.ts';
import { messageUrl } from '../slack/people/identity.ts';
import { pageCounter } from './escalation-metrics.ts';
import type { Foundations } from './foundations.ts';

const MOST_APPROVERS = 5;

/** Without a section `escalation` in sentry.yaml, the group on call, else those who may approve, are mentioned, and nobody is paged. */
export function createEscalationServices(on: Foundations): Escalation {
  const { parts, sql, records, log, slackWorkspace } = on;
  const fallback = everybody(parts.oncallGroup, parts.approvers);
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
    ladder: on.config.escalation ?? mentionOnly(fallback),
    pagers: new Map(),
    schedules: new Map(),
    slack: slackWorkspace.directory,
    fallback,
    contentOf,
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
