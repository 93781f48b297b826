import { alertRuleOf, expressionsIn } from '../../core/alert-rule.ts';
import { clipLine } from '../../core/clip.ts';
import { describeAnswer } from '../../core/describe-changes.ts';
import { links } from './links.ts';
import type { ContextPart, PartFound } from './part.ts';

const MOST = 3;
const SOON_MS = 1_000;
const TITLE = 60;

/** Memory has been asked before: what is told here is what it said. */
const pastIncidents: ContextPart = {
  name: 'past-incidents',
  label: 'Past incidents',
  limitMs: SOON_MS,
  gather({ recall: { incidents, missing } }) {
    // By id alone: what was said in it is forgotten there.
    return fromMemory(
      incidents.map(({ incidentId }) => incidentId),
      missing,
    );
  },
};

const runbooks: ContextPart = {
  name: 'runbooks',
  label: 'Runbooks',
  limitMs: SOON_MS,
  gather({ recall: { runbooks: hits, missing } }) {
    return fromMemory([...new Set(hits.map(({ title }) => clipLine(title, TITLE)))], missing);
  },
};

/** The call has a limit of its own, by which the look waits for it. */
const whatChanged: ContextPart = {
  name: 'what-changed',
  label: 'What changed',
  limitMs: 60_000,
  awaited: true,
  concerns: ({ changes }) => changes !== undefined,
  async gather({ changes }) {
    const looked = await changes;
    if (!looked) throw new Error('it could not be asked');
    const { toolCallId, found } = looked;
    if (found.answer === 'could_not_look')
      throw new Error(found.couldNotLook[0]?.why ?? 'nobody tells Sentry of changes of this system');
    const line = describeAnswer(found);
    return { line, toolCallId, ...(found.answer === 'nothing' ? { nothing: true } : {}) };
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
    if (told !== undefined) return { line: `${another === undefined ? '' : 'several, the first: '}${told}` };
    const rule = alertRuleOf(alerts);
    return rule && { line: `${rule.metric}, its bound ${rule.bound}${rule.unit ?? ''}` };
  },
};

/** Where memory could not be asked, nobody knows that there is nothing, or that this is all. */
function fromMemory(found: readonly string[], missing: string | null): PartFound {
  if (found.length === 0 && missing !== null) throw new Error(missing);
  if (found.length === 0) return null;
  return { line: `${found.slice(0, MOST).join('; ')}${missing === null ? '' : `. ${missing}`}` };
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
