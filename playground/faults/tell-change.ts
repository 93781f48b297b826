import { randomUUID } from 'node:crypto';
import { messageOf } from '../../src/core/errors.ts';
import type { Log } from '../../src/core/log.ts';
import type { Receivers } from './alerter.ts';

/** What a team's deployment tool tells of a deployment: docs/changes.md. */
interface ToldChange {
  readonly title: string;
  readonly where: readonly string[];
  readonly by: string;
  readonly from: string;
  readonly to: string;
}

/** Never throws: a deployment does not fail because nobody heard of it. */
export type TellChange = (change: ToldChange) => Promise<void>;

const WITHIN_MS = 5_000;

/** Tells Sentry of deployments at its generic webhook, beside that of the alerts. */
export function changeTeller({ webhook }: Pick<Receivers, 'webhook'>, log: Log): TellChange {
  return async (change) => {
    if (webhook === null) return;
    try {
      const response = await fetch(new URL('generic', webhook.url), {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(webhook.secret === null ? {} : { 'x-sentry-secret': webhook.secret }),
        },
        body: JSON.stringify({
          change: { ...change, id: randomUUID(), kind: 'deployment', environment: 'playground' },
        }),
        signal: AbortSignal.timeout(WITHIN_MS),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`answered ${response.status}`);
    } catch (error) {
      log.warn({ change: change.title, error: messageOf(error) }, 'nobody heard of this deployment');
    }
  };
}
