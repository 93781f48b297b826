import type { IncidentId } from '../../core/ids.ts';
import type { Sql } from '../../core/sql.ts';
import type { Audience, Audiences, Told } from '../../memory/audiences.ts';
import { type Access, isOpen, type Sight } from './access.ts';

interface Placed {
  readonly id: IncidentId;
  readonly channel: string;
}

/** Who reads of an incident is who reads its channel: kept with it on record, and asked of Slack when it matters. */
export function createAudiences(deps: {
  readonly sql: Sql;
  readonly access: Pick<Access, 'channelOf' | 'sightOf' | 'mayRead'>;
}): Audiences {
  const { sql, access } = deps;

  /** Where their threads are, or will begin. What is no incident is left out. */
  async function placed(ids: readonly IncidentId[]): Promise<readonly Placed[]> {
    const rows = await sql<{ readonly id: IncidentId; readonly channel: string | null }>`
      SELECT id, channel FROM incident WHERE id IN (SELECT jsonb_array_elements_text(${sql.json(ids)}))`;
    return Promise.all(rows.map(async (row) => ({ id: row.id, channel: await access.channelOf(row) })));
  }

  async function sights(channels: readonly string[]): Promise<(channel: string) => Sight> {
    const asked = [...new Set(channels)].map(async (one) => [one, await access.sightOf(one)] as const);
    const seen = new Map(await Promise.all(asked));
    return (channel) => seen.get(channel) ?? 'unknown';
  }

  return {
    async mayTell(here, of, asker): Promise<Told> {
      const all = await placed([...new Set([here, ...of])]);
      const channel = all.find(({ id }) => id === here)?.channel;
      if (channel === undefined) return { ids: new Set(), keptBack: new Set(of), isUnsure: true };
      const others = all.filter(({ id }) => id !== here);
      const elsewhere = others.filter((one) => one.channel !== channel);
      const sight =
        elsewhere.length === 0 ? null : await sights([channel, ...elsewhere.map((one) => one.channel)]);
      // In a channel shared with another company strangers read along: they read of nothing but what happens there.
      const isOurs = sight !== null && ['public', 'private'].includes(sight(channel));
      const open = others.filter(
        (one) => one.channel === channel || (isOurs && sight !== null && isOpen(sight(one.channel))),
      );
      const read = await Promise.all(
        open.map(async (one) => asker === undefined || access.mayRead(asker, one, null)),
      );
      const ids = new Set(open.filter((_, at) => read[at]).map(({ id }) => id));
      return {
        ids,
        keptBack: new Set(others.map(({ id }) => id).filter((id) => !ids.has(id))),
        isUnsure:
          sight !== null && [channel, ...elsewhere.map((one) => one.channel)].map(sight).includes('unknown'),
      };
    },

    async apart(of): Promise<readonly Audience[]> {
      const all = await placed(of);
      const sight = await sights(all.map(({ channel }) => channel));
      const groups = new Map<string, IncidentId[]>();
      for (const { id, channel } of all) {
        const audience = isOpen(sight(channel)) ? '' : channel;
        groups.set(audience, [...(groups.get(audience) ?? []), id]);
      }
      return [...groups].map(([channel, ids]) => ({ everybody: channel === '', ids }));
    },
  };
}
