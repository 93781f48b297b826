import type { EventBus } from '../../src/core/event-bus.ts';

/** For a process that is to learn of nothing. */
export const silentBus: EventBus = { subscribe: () => async () => undefined };
