import type { Diagnosis } from '../../src/core/diagnosis.ts';
import type { IncidentEvent } from '../../src/core/event.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import type { WhatChanged } from '../../src/core/what-changed.ts';
import { createTurn } from '../../src/incidents/turn.ts';
import type { PlayRecord } from '../recovery/play.ts';
import { openScene, type SceneOptions } from './scene.ts';
import { tell } from './tell.ts';

/** What an investigation came to, by its record. */
export interface Played {
  readonly record: IncidentRecord;
  readonly diagnosis: Diagnosis;
  /** Null: nobody could be asked. */
  readonly found: WhatChanged | null;
  /** Claims that were dropped, with why. */
  readonly dropped: readonly string[];
  readonly fellBack: boolean;
  /** Durable steps before the first read of the system, in order: what the first finding waits for. */
  readonly before: readonly string[];
}

const MINUTE_MS = 60_000;
/** Triage, diagnosis, and what may come between. */
const MOST_TURNS = 10;

/** Tells the changes, sends the alert, and takes turns until there is a diagnosis. */
export async function playSituation(
  record: PlayRecord,
  options: Omit<SceneOptions, 'sql' | 'now'>,
): Promise<Played> {
  const scene = await openScene({ ...options, sql: record.sql, now: record.now });
  try {
    const { situation } = options;
    const began = record.now() - situation.began * MINUTE_MS;
    for (const [n, told] of situation.told.entries()) await tell(told, n, began, scene);
    await scene.post('alertmanager', alertOf(scene.incident, new Date(began)));
    const steps: { readonly name: string; readonly reads: number }[] = [];
    const turn = createTurn(scene.deps);
    for (let turns = 0; turns < MOST_TURNS; turns += 1) {
      const next = await record.nextTurn();
      if (next === null) break;
      await record.takeTurn();
      await turn(next.incidentId, next.reason, async (name, work) => {
        steps.push({ name, reads: await liveReads(record) });
        return work();
      });
      const loaded = await scene.deps.records.load(next.incidentId);
      if (loaded?.events.some(({ type }) => type === 'diagnosis.concluded'))
        return playedOf(
          loaded,
          steps.filter(({ reads }) => reads === 0).map(({ name }) => name),
        );
    }
    throw new Error(`${situation.id} came to no diagnosis: ${steps.map(({ name }) => name).join(', ')}`);
  } finally {
    await scene.close();
  }
}

/** What a system itself was asked. */
async function liveReads({ sql }: PlayRecord): Promise<number> {
  const [row] = await sql<{ n: number }>`SELECT count(*)::int AS n FROM tool_call WHERE target IS NOT NULL`;
  return row?.n ?? 0;
}

function playedOf(record: IncidentRecord, before: readonly string[]): Played {
  const last = <T extends IncidentEvent['type']>(type: T) =>
    record.events.findLast((event): event is Extract<IncidentEvent, { type: T }> => event.type === type);
  const diagnosis = last('diagnosis.concluded')?.diagnosis;
  if (diagnosis === undefined) throw new Error('there is no diagnosis');
  return {
    record,
    diagnosis,
    found: last('changes.looked')?.found ?? null,
    dropped: record.events.flatMap((event) =>
      event.type === 'claim.dropped' ? [`${event.claim}: ${event.reason}`] : [],
    ),
    fellBack: last('investigator.fallback') !== undefined,
    before,
  };
}

/** As Alertmanager sends it. */
function alertOf(
  { title, labels, annotations }: IncidentRecord['incident'],
  startsAt: Date,
): Readonly<Record<string, unknown>> {
  const alert = {
    status: 'firing',
    labels,
    annotations: { summary: title, ...annotations },
    startsAt: startsAt.toISOString(),
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example.com/graph?g0.expr=up',
  };
  return {
    version: '4',
    receiver: 'sentry',
    status: 'firing',
    groupKey: `{}:${JSON.stringify(labels)}`,
    groupLabels: labels,
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: 'http://alertmanager.example.com',
    truncatedAlerts: 0,
    alerts: [alert],
  };
}
