import type { IncidentRecord } from '../../core/incident-record.ts';
import { CLAUDES_WORDS, isModels } from '../../core/model-words.ts';
import { clip, ended, type Line, lower, SENTENCE } from './answer-lines.ts';
import { formatState } from './format-state.ts';

const said = `${CLAUDES_WORDS}: `;

export function causeOf({ events, incident }: IncidentRecord): Line {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (last?.type !== 'diagnosis.concluded')
    return [`No cause is known yet: ${lower(formatState(incident.state))}.`];
  const { verdict, rootCause, confidence, disagreement } = last.diagnosis;
  const whose = isModels(last.diagnosis, events) && disagreement === undefined ? said : '';
  if (verdict === 'cause_found')
    return [`${whose}${ended(clip(rootCause, SENTENCE))} (${Math.round(confidence * 100)} % sure)`];
  return [
    `${whose}${verdict === 'healthy' ? 'Nothing wrong was seen' : 'The cause cannot be told'}: ${ended(clip(rootCause, SENTENCE))}`,
  ];
}

export function evidenceOf(record: IncidentRecord): readonly Line[] {
  const last = record.events.findLast((event) => event.type === 'diagnosis.concluded');
  const claims = last?.type === 'diagnosis.concluded' ? last.diagnosis.evidence : [];
  if (claims.length === 0) return [['There is no evidence on record yet.']];
  return claims.map(({ claim }) => [`• ${ended(clip(claim, SENTENCE))}`]);
}
