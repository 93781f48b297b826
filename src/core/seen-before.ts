import type { HeldBack, Recall } from './memory.ts';

/**
 * What the fleet knows of a problem in one sentence, for people and models: how often it was seen, what helped last and what
 * did not. Null when it is new.
 */
export function seenBefore({ incidents, episodes }: Pick<Recall, 'incidents' | 'episodes'>): string | null {
  const worked = episodes.similar.find((episode) => episode.success === true);
  const failed = episodes.failedCommands.filter((command) => command !== worked?.command);
  if (incidents.length === 0 && worked === undefined && failed.length === 0) return null;
  const seen = incidents.reduce((sum, { times }) => sum + times, 0);
  return [
    incidents.length === 0
      ? 'Not seen as an incident before'
      : `Seen ${seen === 1 ? 'once' : `${seen} times`} before`,
    ...(worked === undefined
      ? []
      : [
          `last fixed by “${worked.command}” on ${worked.timestamp.slice(0, 10)}${worked.tried ? `, which helped ${worked.tried.helped} of ${worked.tried.of} times` : ''}`,
        ]),
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

/** All that is said of a past incident which may not be told. */
export function formatHeldBack(why: HeldBack): string {
  return why === 'may_not'
    ? 'A similar incident exists that you may not see.'
    : 'A similar incident is left out: Slack does not tell who may see it.';
}
