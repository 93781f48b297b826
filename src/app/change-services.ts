import { createLooks } from '../changes/looks/looks.ts';
import { readLooks } from '../changes/looks/read-looks.ts';
import { createRecordChange } from '../changes/record-change.ts';
import { createWhatChanged } from '../changes/what-changed.ts';
import { readChangesSubject } from '../incidents/changes-around.ts';
import type { Foundations } from './foundations.ts';

/** What sees changes by itself, and who answers what was changed. */
export function createChangeServices({ config, sql, records, systems, targets, log }: Foundations) {
  const looks = createLooks({
    sql,
    targets: config.lookMinutes === null ? new Map() : targets,
    read: systems.inventory,
    record: createRecordChange(sql),
    log,
  });
  return {
    looks,
    asked: createWhatChanged({
      sql,
      subjectOf: (id) => readChangesSubject({ sql, records, targets }, id),
      ...(config.lookMinutes === null ? {} : { looks: { now: looks.lookNow, read: readLooks } }),
    }),
  };
}
