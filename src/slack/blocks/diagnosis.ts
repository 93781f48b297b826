import type { Diagnosis, Evidence } from '../../domain/diagnosis.ts';
import type { IncidentRecord } from '../../domain/incident-record.ts';
import type { OpenRead } from '../../investigation/unread/open-reads.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  heading,
  lineWith,
  list,
  paragraph,
  prose,
  small,
  words,
} from './build.ts';
import { ACTIONS, type Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';
import { drawOpenRead } from './unread.ts';
import { confidenceWords, facts } from './words.ts';

const SHOWN_CLAIMS = 8;
const SHOWN_ITEMS = 5;

const verdicts: Readonly<Record<Diagnosis['verdict'], string>> = {
  cause_found: 'Cause found',
  healthy: 'Nothing is wrong any more',
  cannot_tell: 'Cannot tell the cause',
};

/** The n-th diagnosis of an incident (from 1). `planNone`: why no action was proposed after it. */
export function drawDiagnosis(
  record: IncidentRecord,
  diagnosis: Diagnosis,
  number: number,
  planNone: string | null,
  { mayDig = false, reads = [] }: { readonly mayDig?: boolean; readonly reads?: readonly OpenRead[] } = {},
): Slot {
  const { incident } = record;
  const verdict = verdicts[diagnosis.verdict];
  // How sure one is of a cause; of having none there is nothing to be sure of.
  const sure = diagnosis.verdict === 'cause_found' ? confidenceWords(diagnosis.confidence) : null;
  const cause = cut(diagnosis.rootCause.trim() || 'No cause was named.', 1200);
  return {
    slot: `diagnosis:${number}`,
    inThread: true,
    text: escape(oneLine(`${incident.id}: ${verdict}${sure ? ` (${sure})` : ''}: ${cut(cause, 500)}`)),
    blocks: [
      heading(facts(verdict, sure)),
      prose(paragraph(words(cause))),
      ...diagnosis.evidence.slice(0, SHOWN_CLAIMS).map((evidence) => claim(record, evidence)),
      ...details(diagnosis, planNone),
      ...reads.flatMap((read) => drawOpenRead(read)),
      ...more(record, diagnosis, number),
      ...(mayDig ? [buttons(button({ text: 'Dig deeper', action: ACTIONS.dig, value: incident.id }))] : []),
    ],
  };
}

function claim(record: IncidentRecord, evidence: Evidence): Block {
  const text = cut(oneLine(evidence.claim), 300);
  const [call] = evidence.toolCallIds;
  const known = record.toolCalls.some((each) => each.id === call);
  if (call === undefined || !known) return prose(paragraph(words(text)));
  return lineWith(text, button({ text: 'Show output', action: ACTIONS.output, value: call }));
}

function details(diagnosis: Diagnosis, planNone: string | null): readonly Block[] {
  const parts = [
    ...items('Ruled out', diagnosis.ruledOut),
    ...items('Not known', diagnosis.unknown),
    ...sentence('What would change my mind: ', diagnosis.wouldChangeMyMind),
    ...sentence('What it affects: ', diagnosis.blastRadius),
    ...sentence('What would help: ', diagnosis.remedy),
    ...sentence('No action is proposed: ', planNone),
  ];
  return parts.length > 0 ? [prose(...parts)] : [];
}

function items(title: string, lines: readonly string[]) {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, SHOWN_ITEMS).map((line) => [words(cut(oneLine(line), 200))]);
  return [paragraph(bold(`${title}:`)), list(shown)];
}

const sentence = (title: string, text: string | null) =>
  text ? [paragraph(bold(title), words(cut(oneLine(text), 400)))] : [];

/** Whether all of it is shown; if not, how to see the rest. */
function more(record: IncidentRecord, diagnosis: Diagnosis, number: number): readonly Block[] {
  const whole =
    diagnosis.evidence.length <= SHOWN_CLAIMS &&
    diagnosis.ruledOut.length <= SHOWN_ITEMS &&
    diagnosis.unknown.length <= SHOWN_ITEMS &&
    diagnosis.rootCause.length <= 1200 &&
    [...diagnosis.ruledOut, ...diagnosis.unknown].every((line) => line.length <= 200) &&
    diagnosis.evidence.every((each) => each.claim.length <= 300 && each.quote === null) &&
    [diagnosis.wouldChangeMyMind, diagnosis.blastRadius, diagnosis.remedy].every(
      (text) => (text?.length ?? 0) <= 400,
    );
  const runbook = diagnosis.runbookId ? [small(`By runbook ${cut(diagnosis.runbookId, 80)}`)] : [];
  if (whole) return runbook;
  return [
    ...runbook,
    buttons(
      button({
        text: 'Details and quotes',
        action: ACTIONS.diagnosis,
        value: `${record.incident.id}:${number}`,
      }),
    ),
  ];
}
