import type { ModelBackend } from './backend.ts';
import type { ModelCapabilities } from './capabilities.ts';
import { createCompacting } from './compaction.ts';
import { requestBody } from './request-body.ts';
import { type MessagesClient, streamMessage } from './stream-message.ts';
import { startWatchdog } from './watchdog.ts';

/** One way to a server that speaks the Messages API. */
export interface MessagesDoor extends Pick<ModelBackend, 'name' | 'countTokens'> {
  /** Default `DEFAULT_IDLE_MS`. */
  readonly idleMs?: number | undefined;
  readonly capabilitiesOf: (model: string) => Promise<ModelCapabilities>;
  /** Sends by a client that fits the model; again by another one where the first is not let in. */
  readonly through: <T>(model: string, send: (client: MessagesClient) => Promise<T>) => Promise<T>;
}

/** The Messages API by the vendor's SDK: one attempt at a time, with an idle watchdog the SDK does not have. */
export function createMessagesBackend(door: MessagesDoor): ModelBackend {
  const compacting = createCompacting();
  return {
    name: door.name,
    countTokens: door.countTokens,
    async attempt(request, attempt) {
      // A summary comes whole, at its end: silence until then means nothing.
      const idleMs = request.compaction === undefined ? door.idleMs : attempt.timeoutMs;
      const dog = startWatchdog(attempt, idleMs);
      try {
        const capabilities = await dog.orAbort(door.capabilitiesOf(request.model));
        const body = requestBody(request, capabilities);
        const send = (told: typeof attempt) =>
          door.through(request.model, (client) => streamMessage(client, body, told, dog));
        if (request.compaction === undefined) return await send(attempt);
        // A summary is written for the model: people are shown nothing of it.
        const untold = { ...attempt, onEvent: () => undefined };
        return await compacting.attempt(request.model, capabilities.compaction, () => send(untold));
      } finally {
        dog.stop();
      }
    },
  };
}
