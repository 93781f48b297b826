/**
 * How many times longer than on a quiet machine a test waits before it gives up. A limit here never makes a test slower: what
 * is waited for is asked for again and again, and a limit that passes is a failure.
 */
export const patience = process.env['CI'] === 'true' ? 4 : 3;

/** What answers within a second on a quiet machine. */
export const PATIENT_MS = 20_000 * patience;
