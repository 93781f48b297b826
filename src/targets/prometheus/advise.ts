import type { Advice, FailedRead } from '../kind.ts';

/** What to do when a server that is asked over HTTP cannot be read. */
export function adviseHttp({ code, target }: FailedRead): Advice | null {
  switch ((code ?? '').replace(/^(?:PROMETHEUS|LOKI|ALERTMANAGER)_/, '')) {
    case 'AWAY':
      return { way: 'run', isAway: true };
    case 'DENIED':
      return {
        way: 'grant',
        steps: {
          who: `An administrator of ${target}.`,
          what: 'Give Sentry a credential that may read it: name its variable in sentry.yaml, and restart Sentry.',
          exact: 'token_env: PROMETHEUS_TOKEN',
          note: 'For basic authentication write username and password_env instead.',
        },
      };
    default:
      return /^(?:PROMETHEUS|LOKI|ALERTMANAGER)_5\d\d$/.test(code ?? '')
        ? { way: 'run', isAway: false }
        : null;
  }
}
