import type { Recall } from './memory.ts';

/**
 * What the fleet knows of a problem in one sentence, for people and models: how often it was seen, what helped last and what
 * did not. Null when it is new.
 */
export function seenBefore({ incidents, episodes }: Pick<Recall, 'incidents' | 'episodes'>): string | null {
  const worked = episodes.similar.find((episode) => episode.success === true);
  const failed = episodes.failedCommands.filter((command) => command !== worked?.command);
  if (incidents.length === 0 && worked === undefined && failed.length === 0) return null;
  const times = incidents.length === 1 ? 'once' : `${incidents.length} times`;
  return [
    incidents.length === 0 ? 'Not seen as an incident before' : `Seen ${times} before`,
    ...(worked === undefined
      ? []
      : [`last fixed by “${worked.command}” on ${worked.timestamp.slice(0, 10)}`]),
    ...(failed.length === 0
      ? []
      : [
          `did not help: ${failed
            .slice(0, 3)
            .map((command) => `“${command}”`)
            .join(', ')}`,
        ]),
  ]
    .join('; ')
    .concat('.');
}
