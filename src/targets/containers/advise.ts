import type { Advice, FailedRead } from '../kind.ts';

/** What to do when an engine cannot be read. */
export function adviseContainers({ code, target }: FailedRead): Advice | null {
  switch (code ?? '') {
    case 'ENGINE_AWAY':
      return { way: 'run', isAway: true };
    case 'ENGINE_DENIED':
      return {
        way: 'grant',
        steps: {
          who: `An administrator of the machine of ${target}.`,
          what: 'Add the account that Sentry runs under to the group of the engine’s socket, and restart Sentry:',
          exact: 'usermod --append --groups docker sentry',
          note: 'Whoever reaches the socket may do everything on that machine. Where that is too much, name a proxy that lets reads through only as the socket.',
        },
      };
    default:
      return /^ENGINE_5\d\d$/.test(code ?? '') ? { way: 'run', isAway: false } : null;
  }
}
