import type { z } from 'zod';
import { clipLine } from '../../core/clip.ts';
import { OpsError } from '../../core/errors.ts';
import { outwardText } from '../../safety/screen/boundary.ts';
import { callService } from '../call-service.ts';

/** A schedule that a service keeps. */
export interface Keeper {
  /** As people call it, with the schedule's name. */
  readonly title: string;
  readonly key: string;
  /** Where the right key is, a sentence. */
  readonly keyHint: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What a service answers, in the form that is expected. Throws OpsError: `SCHEDULE_AWAY` (retryable), `SCHEDULE_KEY`,
 * `SCHEDULE_UNKNOWN`, `SCHEDULE_REFUSED`.
 */
export async function ask<T>(
  { title, key, keyHint, headers }: Keeper,
  url: URL,
  form: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  const answer = await callService({ method: 'GET', url: url.href, headers }, signal);
  const fault = (code: string, says: string, hint: string) =>
    new OpsError(`SCHEDULE_${code}`, says, { hint, retryable: code === 'AWAY' });
  const later = 'Look at the service; until it answers, the schedule cannot be asked who is on call.';
  if (answer.status === null) throw fault('AWAY', `${title} ${answer.why}.`, later);
  const { status, text, json } = answer;
  if (status === 429 || status === 408 || status >= 500)
    throw fault('AWAY', `${title} does not answer for now (${status}).`, later);
  if (status === 401 || status === 403 || (status === 422 && /key format/i.test(text)))
    throw fault('KEY', `${title} does not take Sentry's key (${status}).`, keyHint);
  if (status === 404)
    throw fault(
      'UNKNOWN',
      `${title} is not known there (404).`,
      'Correct schedule, region or url of it in sentry.yaml.',
    );
  const read = status === 200 ? form.safeParse(json) : undefined;
  if (read?.success) return read.data;
  const said = clipLine(outwardText(text.slice(0, 4_000).replaceAll(key, '…')), 200);
  throw fault(
    'REFUSED',
    `${title} answers something else than who is on call (${status})${status === 200 || said === '' ? '.' : `: ${said}`}`,
    'Look at schedule, region and url of it in sentry.yaml.',
  );
}
