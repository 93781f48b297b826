import { type Action, repairOf, stepsOf } from '../core/action.ts';
import { clipLine } from '../core/clip.ts';
import { describeAct } from '../core/describe-act.ts';
import { groupTitle } from '../core/group.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import { CLAUDES_WORDS, isModels } from '../core/model-words.ts';
import { hasFallen, undoneOf } from '../core/undone.ts';

/** A runbook as an incident would have wanted it: prose for people and for search, which runs nothing. */
export interface RunbookDraft {
  readonly path: string;
  readonly title: string;
  readonly content: string;
}

const LINE = 400;

/** From the record alone: when it applies, what to look at, what it was, what helped and how that was seen. Null: nothing was found out. */
export function draftRunbook(record: IncidentRecord): RunbookDraft | null {
  const { incident, actions, events } = record;
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (last?.type !== 'diagnosis.concluded') return null;
  const { rootCause, evidence, ruledOut, remedy } = last.diagnosis;
  const whose = isModels(last.diagnosis, events) ? `${CLAUDES_WORDS}: ` : '';
  const ran = actions.filter(({ startedAt, undoes }) => startedAt !== null && undoes === null);
  const seen = events.findLast((event) => event.type === 'verification.concluded');
  const repair = seen?.type === 'verification.concluded' ? repairOf(actions, seen.round) : undefined;
  const stands = !repair || !hasFallen(undoneOf(actions, stepsOf(actions, repair)));
  const done = ran.map(
    (action) =>
      `${describeAct(action)} (${action.state}${stepsOf(actions, action).length > 1 ? `, step ${action.step}` : ''}${undoneSince(actions, action)}): \`${clipLine(action.command, LINE).replaceAll('`', "'")}\``,
  );
  const parts: readonly (readonly [string, readonly string[]])[] = [
    [
      'When',
      [
        incident.alertName === null
          ? groupTitle(incident)
          : `Alert ${incident.alertName}: ${groupTitle(incident)}`,
      ],
    ],
    ['What shows it', evidence.map(({ claim }) => claim)],
    ['Cause', [`${whose}${rootCause}`]],
    ['Not the cause', ruledOut],
    [
      'What was done',
      done.length > 0 ? done : remedy === null ? [] : [`Nothing was run. What would help: ${remedy}`],
    ],
    [
      'How it is known to be over',
      seen?.type === 'verification.concluded' && stands ? [`${seen.reason}`] : [],
    ],
  ];
  const content = [
    `Drafted from the record of ${incident.id}. Check it before everybody goes by it.`,
    ...parts
      .filter(([, lines]) => lines.length > 0)
      .map(
        ([title, lines]) => `## ${title}\n\n${lines.map((line) => `- ${clipLine(line, LINE)}`).join('\n')}`,
      ),
  ].join('\n\n');
  const name = incident.incidentType ?? last.diagnosis.category ?? incident.alertName ?? incident.id;
  const slug = (name.toLowerCase().match(/[a-z0-9]+/g) ?? [incident.id.toLowerCase()]).join('-').slice(0, 60);
  return { path: `runbooks/${slug}`, title: clipLine(groupTitle(incident), 200), content };
}

function undoneSince(actions: readonly Action[], action: Action): string {
  const undone = undoneOf(actions, [action]);
  if (!hasFallen(undone)) return '';
  return undone?.kind === 'unknown' ? ', perhaps undone since' : ', undone since';
}
