import type { GatheredPart } from '../../core/context.ts';
import { messageOf } from '../../core/errors.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { InvestigationDeps } from '../deps.ts';
import { note } from '../move.ts';
import { gatherContext } from './gather.ts';
import type { ContextAbout, ContextPart } from './part.ts';

/**
 * Gathers what is around an incident, once a round, and puts it on record; what comes late is recorded when it comes, and is waited for
 * by nobody. Whoever takes over in the same round goes by the same. Never holds a look up: null where it could not be done.
 */
export async function contextGathered(
  deps: InvestigationDeps,
  parts: readonly ContextPart[],
  about: ContextAbout,
): Promise<readonly GatheredPart[] | null> {
  const { incident, events } = about.record;
  const known = events.findLast((event) => event.type === 'context.gathered');
  if (known?.type === 'context.gathered' && known.round === incident.round) return known.parts;
  const record = async (gathered: readonly GatheredPart[], key: string): Promise<readonly GatheredPart[]> => {
    const told = gathered.map((part) => ({ ...part, line: deps.redact(part.line) }));
    const event = { type: 'context.gathered', round: incident.round, parts: told } as const;
    await note(deps, incident, `${key}:${incident.round}`, event);
    return told;
  };
  try {
    const { now, later } = await gatherContext(parts, about);
    about.signal.throwIfAborted();
    const told = await record(now, 'context');
    later
      ?.then((all) => (about.signal.aborted ? null : record(all, 'context late')))
      .catch((error: unknown) => failed(deps, about.record, error));
    return told;
  } catch (error) {
    if (about.signal.aborted) throw error;
    failed(deps, about.record, error);
    return null;
  }
}

const failed = ({ log }: Pick<InvestigationDeps, 'log'>, record: IncidentRecord, error: unknown): void =>
  log.warn(
    { incident: record.incident.id, error: messageOf(error) },
    'could not record what was gathered around it',
  );
