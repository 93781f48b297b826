import { alertRuleOf, expressionsIn } from '../../core/alert-rule.ts';
import { describeAnswer } from '../../core/describe-changes.ts';
import { withoutMarks } from '../../core/model-words.ts';
import { links } from './links.ts';
import type { ContextPart } from './part.ts';

const MOST = 3;
const SOON_MS = 1_000;

/** Memory has been asked before: what is told here is what it said. */
const pastIncidents: ContextPart = {
  name: 'past-incidents',
  label: 'Past incidents',
  limitMs: SOON_MS,
  gather({ recall: { incidents, missing } }) {
    if (incidents.length === 0) return nothingUnless(missing);
    const told = incidents
      .slice(0, MOST)
      .map(({ incidentId, title, ended }) => `${incidentId} ${title} (${ended})`);
    return { line: told.join('; ') };
  },
};

const runbooks: ContextPart = {
  name: 'runbooks',
  label: 'Runbooks',
  limitMs: SOON_MS,
  gather({ recall: { runbooks: hits, missing } }) {
    if (hits.length === 0) return nothingUnless(missing);
    return { line: [...new Set(hits.map(({ title }) => title))].slice(0, MOST).join('; ') };
  },
};

/** The call has a limit of its own, which ends it first. */
const whatChanged: ContextPart = {
  name: 'what-changed',
  label: 'What changed',
  limitMs: 10_000,
  awaited: true,
  concerns: ({ changes }) => changes !== undefined,
  async gather({ changes }) {
    const looked = await changes;
    if (!looked) throw new Error('it could not be asked');
    const { toolCallId, found } = looked;
    const line = withoutMarks(describeAnswer(found));
    if (found.answer === 'could_not_look') throw new Error(line);
    return found.answer === 'nothing' ? null : { line, toolCallId };
  },
};

const neighbours: ContextPart = {
  name: 'neighbours',
  label: 'Neighbours',
  limitMs: SOON_MS,
  concerns: ({ record }) => record.incident.target !== null,
  gather: ({ neighbours: near }) =>
    near.length === 0 ? null : { line: near.map(({ name, kind }) => `${name} (${kind})`).join(', ') },
};

const expression: ContextPart = {
  name: 'expression',
  label: 'The alert’s expression',
  limitMs: SOON_MS,
  gather({ record: { alerts } }) {
    const [told, another] = [...new Set(alerts.flatMap(expressionsIn))];
    if (another !== undefined) return { line: `${told}, and others` };
    if (told !== undefined) return { line: told };
    const rule = alertRuleOf(alerts);
    return rule && { line: `${rule.metric}, its bound ${rule.bound}${rule.unit ?? ''}` };
  },
};

/** Where memory could not be asked, nobody knows that there is nothing. */
function nothingUnless(missing: string | null): null {
  if (missing !== null) throw new Error(missing);
  return null;
}

/** All that is gathered around an incident, in the order in which it is told. */
export const contextParts: readonly ContextPart[] = [
  pastIncidents,
  runbooks,
  whatChanged,
  neighbours,
  expression,
  links,
];
