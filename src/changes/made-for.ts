import type { Change } from '../core/change.ts';
import { OWN_LOOK } from '../core/what-changed.ts';

/** How a change that an action of Sentry's made says by whom it was; the incident follows. */
export const BY_SENTRY = 'Sentry for ';

/** Whether Sentry itself made it, in an incident that somebody approved it in. */
export const isMadeBySentry = ({ source, by }: Pick<Change, 'source' | 'by'>): boolean =>
  source === OWN_LOOK && by !== null && by.startsWith(BY_SENTRY);

/** Whether Sentry made it for this incident: then it is an answer to it, and no suspect. */
export const isMadeFor = (change: Pick<Change, 'source' | 'by'>, incident: string): boolean =>
  isMadeBySentry(change) && change.by?.slice(BY_SENTRY.length).split(',', 1)[0] === incident;
