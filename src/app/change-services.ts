import { createLooks } from '../changes/looks/looks.ts';
import { readLooks } from '../changes/looks/read-looks.ts';
import { createWhatChanged } from '../changes/what-changed.ts';
import { isSlackUser } from '../core/is-slack-user.ts';
import { readChangesSubject } from '../incidents/changes-around.ts';
import { timesAway } from '../infra/dbos/presence.ts';
import type { Foundations } from './foundations.ts';
import { recordChanges } from './record-changes.ts';

/** What sees changes by itself, and who answers what was changed. */
export function createChangeServices({
  config,
  sql,
  records,
  systems,
  targets,
  slackWorkspace,
  log,
}: Foundations) {
  const looks = createLooks({
    sql,
    targets: config.lookMinutes === null ? new Map() : targets,
    read: systems.inventory,
    record: recordChanges({ sql, records, targets }),
    nameOf: async (id) => {
      if (!isSlackUser(id)) return id;
      const name = await slackWorkspace.directory.name(id);
      // An id in place of a name tells people nothing.
      return name === id ? null : name.replace(/^@/, '');
    },
    log,
  });
  return {
    looks,
    asked: createWhatChanged({
      sql,
      subjectOf: (id) => readChangesSubject({ sql, records, targets }, id),
      away: (from, to) => timesAway(sql, from, to),
      ...(config.lookMinutes === null ? {} : { looks: { now: looks.lookNow, read: readLooks } }),
    }),
  };
}
