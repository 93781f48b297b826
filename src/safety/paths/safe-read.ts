import { constants } from 'node:fs';

/**
 * How a file is opened that may be somebody else's: no wait for the other end of a pipe or for whoever holds a lease, no link
 * at the end, no terminal that becomes ours.
 */
export const SAFE_READ =
  constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
