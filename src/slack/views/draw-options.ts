import type { Action } from '../../core/action.ts';
import { messageOf } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import { mergedWith } from '../../core/merged-with.ts';
import type { Principal } from '../../core/principal.ts';
import type { OutboundStore } from '../outbound/store.ts';
import type { Channels } from '../people/channels.ts';
import { messageUrl } from '../people/identity.ts';
import type { UserDirectory } from '../people/user-directory.ts';
import type { SlackDeps } from '../ports.ts';
import type { DrawOptions } from './blocks/slot.ts';
import { waitsOf } from './blocks/waits.ts';
import { whoIsRung } from './ring.ts';

/** What Slack knows and the record does not: names, groups, where other threads are. */
export function createDrawOptions(
  deps: SlackDeps,
  store: OutboundStore,
): (record: IncidentRecord) => Promise<DrawOptions> {
  const { config, log, workspace } = deps;
  const { directory, access } = workspace;
  const groupId = (name: string): Promise<string | null> =>
    directory.groupId(name).catch((error: unknown) => {
      log.warn({ group: name, error: messageOf(error) }, 'a group is unknown to Slack');
      return null;
    });
  const groupsOf = async ({ events }: IncidentRecord): Promise<ReadonlyMap<string, string | null>> => {
    const handles = new Set(
      events.flatMap((event) => (event.type === 'person.called' ? (event.groups ?? []) : [])),
    );
    return new Map(await Promise.all([...handles].map(async (name) => [name, await groupId(name)] as const)));
  };

  const ringOf = async (
    record: Pick<IncidentRecord, 'incident' | 'events'>,
    of: Action | undefined,
    at: string,
  ): Promise<readonly string[]> => {
    const oncall = config.oncallGroup ? await groupId(config.oncallGroup.replace(/^@/, '')) : null;
    // Where nothing is proposed: those who decide on what no rule is about.
    const deciders = oncall !== null ? [] : of ? ((await config.approversOf(of)) ?? []) : config.approvers;
    const ids = deciders.map(async (one) =>
      one.kind === 'group' ? groupId(one.name.replace(/^@/, '')) : one.kind === 'user' ? one.id : null,
    );
    return whoIsRung(record, at, {
      oncall,
      approvers: (await Promise.all(ids)).filter((id) => id !== null),
      isQuiet: deps.escalation.isQuiet(record.incident.severity, new Date(at)),
    });
  };

  const ringAtOf = async (record: IncidentRecord): Promise<ReadonlyMap<number, readonly string[]>> => {
    const waits = waitsOf(record).map(async ({ seq, at }) => {
      const then = {
        incident: { ...record.incident, severity: 'critical' as const },
        events: record.events.filter((event) => event.seq < seq),
      };
      const of = record.actions.findLast(({ proposedAt }) => Date.parse(proposedAt) < Date.parse(at));
      return [seq, await ringOf(then, of, at)] as const;
    });
    return new Map(await Promise.all(waits));
  };

  /** Those of them that may be told in the thread of a record. */
  const toldAmong = async <T>(
    things: readonly T[],
    { incident }: IncidentRecord,
    saidIn: (thing: T) => { readonly id: IncidentId; readonly channel: string | null },
  ): Promise<ReadonlySet<T>> => {
    const may = await Promise.all(things.map((thing) => access.mayTell(saidIn(thing), incident)));
    return new Set(things.filter((_, at) => may[at]));
  };

  /** What those are called who said no, who approved or undid what ran, who closed it and who gave it to somebody. */
  const namesOf = async ({
    denials,
    actions,
    events,
  }: IncidentRecord): Promise<ReadonlyMap<string, string>> => {
    const undoers = actions.flatMap(({ undoes, requestedBy }) =>
      undoes && requestedBy ? [requestedBy] : [],
    );
    const approvers = actions
      .filter(({ startedAt, purpose }) => startedAt !== null && purpose === 'repair')
      .flatMap(({ approvedBy, decidedBy }) => [...approvedBy, ...(decidedBy ? [decidedBy] : [])])
      .filter(isSlackUser);
    const saidNo = denials.map(({ saidBy }) => saidBy);
    const told = events.flatMap((event) =>
      event.type === 'incident.closed' || event.type === 'incident.stopped'
        ? [event.by]
        : event.type === 'incident.acknowledged'
          ? (event.assignedBy ?? [])
          : [],
    );
    const ids = new Set([...saidNo, ...approvers, ...[...undoers, ...told].filter(isSlackUser)]);
    // A program, or Sentry itself, is called what it is on record.
    const others = [...undoers, ...told].filter((by) => !isSlackUser(by)).map((by) => [by, by] as const);
    const named = [...ids].map(async (id) => [id, await directory.name(id)] as const);
    return new Map([...others, ...(await Promise.all(named))]);
  };

  return async (record) => {
    const seen = record.events.flatMap((event) =>
      event.type === 'memory.recalled' ? event.incidents.map((each) => each.incidentId) : [],
    );
    const related = record.events.flatMap((event) => {
      if (event.type === 'incident.last_time') return [event.earlier];
      return event.type === 'incident.related' ? event.incidents : [];
    });
    const merged = mergedWith(record.events);
    const places = await store.places([...new Set<IncidentId>([...seen, ...related, ...merged])]);
    const named = await toldAmong(related, record, (id) => ({
      id,
      channel: places.get(id)?.channel ?? null,
    }));
    const incidents = await deps.records.incidents(merged);
    const mergedOf = new Map(incidents.map((incident) => [incident.id, incident]));
    const elsewhere = record.denials.filter(({ incidentId }) => incidentId !== record.incident.id);
    const told = await toldAmong(elsewhere, record, ({ incidentId: id, channel }) => ({ id, channel }));
    const names = await namesOf(record);
    const groups = await groupsOf(record);
    const ringAt = await ringAtOf(record);
    const asks = record.actions.findLast(({ state }) => state === 'proposed');
    return {
      threadUrl: (id) => {
        const place = places.get(id);
        return place ? messageUrl(workspace.identity(), place.channel, place.ts) : null;
      },
      approvers: asks ? await formatApprovers(deps, asks) : null,
      ring: asks ? await ringOf(record, asks, asks.proposedAt) : [],
      ringAt: (seq) => ringAt.get(seq) ?? [],
      groupOf: (handle) => groups.get(handle) ?? null,
      pagersAfter: deps.escalation.pagersAfter,
      calls: deps.escalation.calls,
      measured: deps.measured,
      mayDig: deps.digDeeper !== null,
      mayReadAgain: true,
      mayTell: (denial) => told.has(denial),
      mayName: (id) => named.has(id),
      mergedOf: (id) => mergedOf.get(id) ?? null,
      nameOf: (userId) => names.get(userId) ?? null,
      mayEdit: (steps) => deps.plans.fieldsOf(steps).length > 0,
      mayUndo: deps.afterwards.mayUndo,
      maySettle: true,
      mayChangeMind: true,
    };
  };
}

/** Null: nobody is configured. What cannot be read is not nobody. */
async function formatApprovers({ config, workspace }: SlackDeps, asks: Action): Promise<string | null> {
  const found = await config.approversOf(asks);
  return found === null
    ? 'whoever the policy names (it cannot be read now)'
    : formatPrincipal(workspace, found);
}

/** Names, not mentions: a card must not ring everybody who could decide. */
export async function formatPrincipal(
  parts: { readonly directory: UserDirectory; readonly channels: Channels },
  principals: readonly Principal[],
): Promise<string | null> {
  const words = await Promise.all(
    principals.map(async (principal) => {
      if (principal.kind === 'group') return `@${await parts.directory.groupName(principal.name)}`;
      if (principal.kind === 'channel')
        return `the members of #${parts.channels.nameOf(principal.id) ?? 'a channel'}`;
      return `@${await parts.directory.name(principal.id)}`;
    }),
  );
  return words.length > 0 ? words.join(', ') : null;
}
