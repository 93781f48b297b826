import { byQuote, type Diagnosis, describeVerdict } from '../../core/diagnosis.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { alsoRuledOut, CLAUDES_WORDS, isModels } from '../../core/model-words.ts';
import { moment } from './own-marks.ts';

/** The ids of tool calls behind a line; `why` leaves them out for people. */
export const cited = (ids: readonly string[]): string => (ids.length === 0 ? '' : ` [${ids.join(', ')}]`);

/** For people, who open what is cited otherwise. */
export const withoutCites = (text: string): string =>
  text.replace(/ \[tc_[0-9a-z]+(?:, tc_[0-9a-z]+)*\]/g, '');

export const plainTool = (name: string): string => name.replaceAll('_', ' ');

/** The last diagnosis, with what it rests on and what it leaves open: lines of `why`; none before there is one. */
export function formatCause(record: IncidentRecord): string[] {
  const last = lastDiagnosis(record);
  if (!last) return [];
  const { diagnosis, at } = last;
  const isModel = isModels(diagnosis, record.events) && diagnosis.disagreement === undefined;
  const whose = isModel ? `, ${CLAUDES_WORDS}` : '';
  return [
    diagnosis.verdict === 'cause_found' && diagnosis.unexplained === undefined
      ? `*Cause* (${Math.round(diagnosis.confidence * 100)} % sure${sureOfFix(diagnosis)}${whose}): ${diagnosis.rootCause} (as of ${moment(at)})`
      : `*${describeVerdict(diagnosis)}*${isModel ? ` (${CLAUDES_WORDS})` : ''}: ${diagnosis.rootCause} (as of ${moment(at)})`,
    ...sidesOf(diagnosis),
    ...byQuote(diagnosis.evidence).map(
      (item) => `• ${item.claim}${cited(item.toolCallIds)}${item.quote === null ? '' : ` “${item.quote}”`}`,
    ),
    ...reasoningOf(diagnosis),
    ...alsoRuledOut(diagnosis).map((text) => `• ruled out: ${text}`),
    ...(diagnosis.unexplained === undefined ? [] : [`• not known: ${diagnosis.unexplained}`]),
    ...diagnosis.unknown.map((text) => `• not known: ${text}`),
    ...(diagnosis.wouldChangeMyMind ? [`• wrong if: ${diagnosis.wouldChangeMyMind}`] : []),
    ...(isModel && diagnosis.remedy ? [`• Claude suggests: ${diagnosis.remedy}`] : []),
    ...(diagnosis.doubleCheck?.reason ? [`• not double-checked: ${diagnosis.doubleCheck.reason}`] : []),
    ...(diagnosis.unread ?? []).map(({ toolCallId, way, reason }) => {
      const call = record.toolCalls.find(({ id }) => id === toolCallId);
      const then = way === 'run' ? 'it can be run again' : 'somebody has to grant it';
      return `• not read: ${plainTool(call?.tool ?? 'a call')}${cited([toolCallId])}: ${reason} (${then})`;
    }),
    '',
  ];
}

function sureOfFix({ confidence, fixConfidence }: Diagnosis): string {
  return fixConfidence === undefined || fixConfidence === confidence
    ? ''
    : `, ${Math.round(fixConfidence * 100)} % of the fix`;
}

function sidesOf({ disagreement }: Diagnosis): string[] {
  if (disagreement === undefined) return [];
  const { runbook, model } = disagreement;
  return [
    `• the runbook’s check: ${runbook.says}${cited([...new Set(runbook.evidence.flatMap(({ toolCallIds }) => toolCallIds))])}`,
    `• ${CLAUDES_WORDS}: ${model.says}`,
  ];
}

const ends = { ruled_in: 'ruled in', ruled_out: 'ruled out', open: 'open' } as const;

function reasoningOf({ rootCause, onset, symptomNow, chain = [], hypotheses = [] }: Diagnosis): string[] {
  return [
    ...(onset === undefined ? [] : [`• began: ${moment(onset)}`]),
    ...(symptomNow === undefined
      ? []
      : [`• there now: ${symptomNow.present ? 'yes' : 'no'}${cited([symptomNow.toolCallId])}`]),
    ...(chain.length === 0 ? [] : [`• how it came about: ${chain.join(' → ')}`]),
    ...hypotheses
      .filter(({ cause }) => cause !== rootCause)
      .map(
        ({ cause, forIds, againstIds, end }) =>
          `• weighed, ${ends[end]}: ${cause}${cited([...forIds, ...againstIds])}`,
      ),
  ];
}

export const lastDiagnosis = ({ events }: IncidentRecord) =>
  events.findLast((event) => event.type === 'diagnosis.concluded');
