import type { Alert } from '../core/alert.ts';
import { messageOf } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Log } from '../core/log.ts';
import type { Accept } from './accept.ts';

/** Where alerts and incidents are told, as the workspace knows it. */
export interface Places {
  /** Where the alert of this delivery would have its thread. */
  homeOf(delivery: string): Promise<string>;
  /** Where the incident has its thread. */
  channelOf(id: IncidentId): Promise<string>;
  /** Whether everybody of the workspace sees a channel; false where that cannot be told. */
  isPublic(channel: string): Promise<boolean>;
  announce(text: string, channel: string): Promise<void>;
}

/**
 * An alert that joins an incident in a channel which the readers of its own may not see does not vanish there: they get one
 * line, without a word of that incident. Said once for each incident and channel by a process; what did not arrive is said with
 * the next alert. The alert is accepted whatever becomes of the line.
 */
export function tellingElsewhere(accept: Accept, places: Places, log: Log): Accept {
  const told = new Set<string>();

  async function tell(id: IncidentId, { deliveryKey, title }: Alert): Promise<void> {
    const [home, channel] = await Promise.all([places.homeOf(deliveryKey), places.channelOf(id)]);
    const key = `${id} ${home}`;
    if (home === channel || told.has(key)) return;
    told.add(key);
    try {
      if (await places.isPublic(channel)) return;
      await places.announce(
        `“${title}” belongs to an incident in a channel that you may not see. It is looked into there.`,
        home,
      );
    } catch (error) {
      told.delete(key);
      throw error;
    }
  }

  return async (alert) => {
    const accepted = await accept(alert);
    if (accepted.kind === 'repeated' || accepted.kind === 'reopened')
      tell(accepted.incidentId, alert).catch((error: unknown) =>
        log.warn(
          { incident: accepted.incidentId, error: messageOf(error) },
          'it could not be said that an alert is looked into elsewhere',
        ),
      );
    return accepted;
  };
}
