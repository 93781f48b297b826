import type { IncidentRecord } from '../../core/incident-record.ts';
import type { Line } from './answer-lines.ts';

/** What may be asked, in the words of who reads it. */
export const ASKABLE =
  'what caused it, what ran and who approved it, what can be undone, who has it, since when, how it stands and what is next';

/** What this is, and what it can be asked here. */
export const sentryOf = ({ incident }: IncidentRecord): readonly Line[] => [
  [
    `I am Sentry: I look into ${incident.id}, say what caused it and propose what helps. Ask me ${ASKABLE}. “help” tells all commands.`,
  ],
];

/** What Sentry may do to a system. A rule that lets something run unasked is an approval, too: people gave it before. */
export const rightsOf = ({ incident }: IncidentRecord): readonly Line[] => [
  [
    `I read what ${incident.target ?? 'a configured system'} lets me read. What changes anything I only propose: it runs once somebody who may approve it does, or where a rule of your policy approves it. “help” tells all commands.`,
  ],
];
