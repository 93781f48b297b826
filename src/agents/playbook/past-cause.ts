import { clipLine } from '../../core/clip.ts';
import type { Diagnosis, Evidence } from '../../core/diagnosis.ts';
import { isNotThereCode } from '../../core/errors.ts';
import { type PastCause, pastCauseTitle } from '../../core/memory.ts';
import { withoutMarks } from '../../core/model-words.ts';
import type { ToolCallResult } from '../../core/tool-call.ts';
import type { Investigation } from '../ports.ts';
import { firstLineOf } from './first-line.ts';
import { readSystem, unreadable } from './read-system.ts';

const CAUSE = 200;

/** What the read showed now that showed a past cause then; `unknown`: why it could not be read. */
interface PastRead {
  readonly evidence: readonly Evidence[];
  readonly unknown: readonly string[];
}

/** Of the incidents that are alike and were on this target, the cause of the nearest that was fixed, else of the nearest. */
function pastCauseOf({ recall, incident }: Pick<Investigation, 'recall' | 'incident'>): PastCause | null {
  const here = recall.incidents.flatMap(({ check, target }) =>
    check && target !== null && target === incident.target ? [check] : [],
  );
  return here.find(({ ended }) => ended === 'fixed') ?? here[0] ?? null;
}

/**
 * A diagnosis of the playbook that goes by a past cause, too: what showed it then is read first, but where the alert's own runbook says
 * what to read. It decides nothing: what was read is evidence of itself, and the past cause stays an open explanation.
 */
export async function withPastCause(
  work: Investigation,
  isKnown: boolean,
  diagnose: () => Promise<Diagnosis>,
): Promise<Diagnosis> {
  const past = pastCauseOf(work);
  if (past === null) return diagnose();
  const before = isKnown ? null : await readAgain(work, past);
  const diagnosis = await diagnose();
  if (diagnosis.verdict !== 'cannot_tell') return diagnosis;
  const { evidence, unknown } = before ?? (await readAgain(work, past));
  const cause = clipLine(withoutMarks(past.cause), CAUSE);
  const told = diagnosis.evidence.map(({ quote }) => quote);
  return {
    ...diagnosis,
    evidence: [...evidence.filter(({ quote }) => !told.includes(quote)), ...diagnosis.evidence],
    unknown: [...diagnosis.unknown, ...unknown],
    hypotheses: [
      ...(diagnosis.hypotheses ?? []),
      { cause: `${pastCauseTitle(past.incidentId)}${cause}`, forIds: [], againstIds: [], end: 'open' },
    ],
    remedy: [checkFirst(past), diagnosis.remedy].filter((text) => text !== null).join(' '),
  };
}

async function readAgain(work: Investigation, { incidentId, read }: PastCause): Promise<PastRead> {
  if (read === null) return { evidence: [], unknown: [] };
  if (read.input === null)
    return {
      evidence: [],
      unknown: [`No read fits here that would show whether it is as in ${incidentId}.`],
    };
  const { tool, input } = read;
  const purpose = `Looking at what showed the cause of ${incidentId}`;
  work.say(`${purpose} …`);
  const result = await readSystem(work, 'diagnose', `past:${tool}`, tool, input, purpose);
  if (result.kind !== 'ok')
    return { evidence: [], unknown: [unread(incidentId, tool, result)].filter(Boolean) };
  const line = firstLineOf(result.text);
  if (line === null) return { evidence: [], unknown: [] };
  const claim = `What showed the cause of ${incidentId} now shows: ${line}`;
  return { evidence: [{ claim, toolCallIds: [result.toolCallId], quote: line }], unknown: [] };
}

/** What is not there any more speaks neither for the past cause nor against it. */
function unread(incidentId: string, tool: string, result: ToolCallResult): string {
  if (result.kind === 'failed' && isNotThereCode(result.code))
    return `What showed the cause of ${incidentId} is not there any more: ${result.reason.replace(/[.\s]+$/, '')}.`;
  return unreadable(tool, result);
}

/** For whoever goes on: a lead, with how it ended then. By id alone: this text is copied further than its cause may be. */
const checkFirst = ({ incidentId, ended }: PastCause): string =>
  `Check first whether it is as in ${incidentId} (${ended}).`;
