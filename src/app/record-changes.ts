import { createRecordChange, type RecordChange } from '../changes/record-change.ts';
import { tellChange } from '../incidents/tell-news.ts';
import type { Foundations } from './foundations.ts';

/** Puts changes on record, and has the open incidents hear of them. */
export const recordChanges = ({
  sql,
  records,
  targets,
}: Pick<Foundations, 'sql' | 'records' | 'targets'>): RecordChange =>
  createRecordChange(sql, (tx, change) => tellChange(tx, { records, targets }, change));
