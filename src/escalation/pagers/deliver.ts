import { clipLine } from '../../core/clip.ts';
import { outwardText } from '../../safety/screen/boundary.ts';
import { callService, type ServiceRequest } from '../call-service.ts';
import type { Delivered } from '../ports.ts';

/** A paging service as one pager of `sentry.yaml` speaks to it. */
export interface Receiver {
  /** As people call it, with the pager's name. */
  readonly title: string;
  /** Never told to anybody, whatever the service answers. */
  readonly key: string;
  accepts(status: number): boolean;
  isKeyFault(status: number, said: string): boolean;
  /** Where the right key is, a sentence. */
  readonly keyHint: string;
}

/** Tells a service, and what came of it. Never throws. */
export async function deliver(
  receiver: Receiver,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<Delivered> {
  const { title } = receiver;
  const answer = await callService(request, signal);
  if (answer.status === null) return { ok: false, retryable: true, reason: `${title} ${answer.why}.` };
  const { status, text, retryAfterMs } = answer;
  if (receiver.accepts(status)) return { ok: true };
  const failed = (retryable: boolean, reason: string): Delivered => ({
    ok: false,
    retryable,
    ...(retryable && retryAfterMs !== undefined ? { retryAfterMs } : {}),
    reason,
  });
  if (status === 429) return failed(true, `${title} takes no more for now (429).`);
  if (status === 408 || status >= 500) return failed(true, `${title} has a fault of its own (${status}).`);
  if (status >= 300 && status < 400)
    return failed(
      false,
      `${title} sends Sentry elsewhere (${status}), and it does not follow: correct url or region of the pager in sentry.yaml.`,
    );
  // A login page of a network answers for everything, until somebody has logged in.
  if (status < 300)
    return failed(true, `What answers is not ${title} (${status}): look at url of the pager in sentry.yaml.`);
  if (receiver.isKeyFault(status, text))
    return failed(false, `${title} does not take Sentry's key (${status}). ${receiver.keyHint}`);
  const said = clipLine(outwardText(text.slice(0, 4_000).replaceAll(receiver.key, '…')), 300);
  return failed(false, `${title} refuses it (${status})${said === '' ? '.' : `: ${said}`}`);
}
