import { randomBytes, randomUUID } from 'node:crypto';
import { type Approvals } from '../../src/actions/approvals/approvals.ts';
import type { Investigator } from '../../src/agents/ports.ts';
import type { Action } from '../../src/core/action.ts';
import type { Alert } from '../../src/core/alert.ts';
import { messageOf, OpsError } from '../../src/core/errors.ts';
import type { IncidentId } from '../../src/core/ids.ts';
import type { IncidentRecord } from '../../src/core/incident-record.ts';
import type { Log } from '../../src/core/log.ts';
import type { Sql } from '../../src/core/sql.ts';
import type { Target } from '../../src/core/target.ts';
import type { InvestigationDeps } from '../../src/incidents/deps.ts';
import { createTurn } from '../../src/incidents/turn.ts';
import { createRecords, type IncidentRecords } from '../../src/record/record.ts';
import type { Runbook } from '../../src/runbooks/runbook.ts';
import type { Tool } from '../../src/tools/define.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { incidentOf } from '../replay/incident-of.ts';
import { kindOfDomain } from '../replay/kind-of-domain.ts';
import type { Scenario } from '../replay/scenario.ts';
import { openRecordedDeps } from './recorded-deps.ts';
import { createRecordedSystem, type RecordedSystem } from './recorded-system.ts';
import type { RecoveryCase } from './recovery-case.ts';

/** A record of its own for one play, and its clock; see infra/db/simulated-database. */
export interface PlayRecord {
  readonly sql: Sql;
  /** Ms since the epoch. */
  now(): number;
  moveTo(at: number): Promise<void>;
  nextTurn(): Promise<{
    readonly incidentId: IncidentId;
    readonly reason: string;
    readonly at: number;
  } | null>;
  takeTurn(): Promise<void>;
  close(): Promise<void>;
}

export interface Stage {
  openRecord(): Promise<PlayRecord>;
  /** The production way in. */
  accept(sql: Sql, target: Target): (alert: Alert) => Promise<{ readonly incidentId: IncidentId | null }>;
  readonly tools: readonly Tool[];
  readonly runbooks: readonly Runbook[];
  /** Recorded incidents by id. */
  readonly scenarios: ReadonlyMap<string, Scenario>;
  readonly log: Log;
}

/** Who plans in a play. */
export interface Planner {
  readonly name: string;
  make(
    of: RecoveryCase,
    on: PlannerStage,
  ): {
    readonly playbook: Investigator;
    readonly claude: Investigator | null;
  };
}

/** What a planner that has tools of its own is made from. */
export interface PlannerStage {
  readonly tools: readonly Tool[];
  readonly target: Target;
  readonly records: IncidentRecords;
}

/** What a play came to. */
export interface Played {
  readonly record: IncidentRecord;
  readonly system: RecordedSystem;
  /** It was called fixed at a moment at which the problem was there. */
  readonly wasFalselyFixed: boolean;
  /** Turns that were left when the play was ended: it goes on for ever. */
  readonly isUnfinished: boolean;
}

/** As shipped (src/app/build.ts, src/config/config.ts). */
const CONFIRMATION = {
  sourceWaitMs: 10 * 60_000,
  holdMs: 10_000,
  timeoutMs: 2 * 60_000,
};
/** Two, for what takes a second person. */
const PEOPLE = ['U0FIRST', 'U0SECOND'];
/** Ten minutes of waiting for a source, three rounds and the looks afterwards take some 300. */
const MOST_TURNS = 1_500;
/** A turn that fails is tried again by the engine; one that fails as often as this fails for ever. */
const MOST_FAILURES = 10;

/** From the alert to the last turn that is asked for, on production's own path: accept, turns, gate, verification. */
export async function play(of: RecoveryCase, planner: Planner, stage: Stage): Promise<Played> {
  const record = await stage.openRecord();
  try {
    const scene = await setScene(of, planner, stage, record);
    try {
      return await run(scene);
    } finally {
      await scene.close();
    }
  } finally {
    await record.close();
  }
}

interface Scene {
  readonly of: RecoveryCase;
  readonly record: PlayRecord;
  readonly system: RecordedSystem;
  readonly deps: InvestigationDeps;
  readonly approvals: Approvals;
  readonly alert: Alert;
  accept(alert: Alert): Promise<{ readonly incidentId: IncidentId | null }>;
  close(): Promise<void>;
}

async function setScene(
  of: RecoveryCase,
  planner: Planner,
  stage: Stage,
  record: PlayRecord,
): Promise<Scene> {
  const { sql } = record;
  const { log } = stage;
  const scenario = scenarioNamed(stage, of.alert);
  const incident = incidentOf(scenario, record.now());
  const kind = kindOfDomain(
    incident.domain,
    scenario.tool_outputs.map(({ tool }) => tool),
  );
  const target: Target = {
    name: incident.target ?? 'recorded-system',
    kind: kind.name,
    domain: incident.domain ?? 'docker',
    environment: 'production',
    aliases: [],
  };
  const system = createRecordedSystem(of, {
    tools: stage.tools,
    recorded: (id) => scenarioNamed(stage, id).tool_outputs,
    now: record.now,
  });
  const records = createRecords(sql);
  const { deps, approvals, close } = await openRecordedDeps({
    sql,
    records,
    kind,
    targets: new Map([[target.name, target]]),
    registry: createRegistry(system.tools),
    runbooks: stage.runbooks,
    people: PEOPLE,
    investigators: planner.make(of, { tools: system.tools, target, records }),
    confirmation: CONFIRMATION,
    now: record.now,
    log,
  });
  const { alertName: name, title, severity, labels, annotations, openedAt: startsAt } = incident;
  return {
    of,
    record,
    system,
    deps,
    approvals,
    accept: stage.accept(sql, target),
    alert: {
      source: of.source,
      status: 'firing',
      name,
      title,
      severity,
      sourceSeverity: severity,
      labels,
      annotations,
      target: target.name,
      fingerprint: randomBytes(16).toString('hex'),
      deliveryKey: randomUUID(),
      startsAt,
      endsAt: null,
      url: null,
    },
    close,
  };
}

function scenarioNamed({ scenarios }: Stage, id: string): Scenario {
  const scenario = scenarios.get(id);
  if (scenario === undefined)
    throw new OpsError('EVALS_FILE', `There is no recorded incident called ${id}.`, {
      hint: 'A case names one of evals/incidents.',
    });
  return scenario;
}

/** One thing after the other in the order of the simulated clock: a turn, a word of the source, a decision of a person. */
async function run(scene: Scene): Promise<Played> {
  const { of, record, system, deps } = scene;
  const { incidentId } = await scene.accept(scene.alert);
  if (incidentId === null) throw new Error('The alert was not accepted.');
  const began = record.now();
  const turn = createTurn(deps);
  const words = [...of.source_says_over];
  const people = [...of.people];
  const decided = new Set<string>();
  let wasFalselyFixed = false;
  let failures = 0;
  for (let turns = 0; turns < MOST_TURNS; turns += 1) {
    const next = await record.nextTurn();
    const word = nextWord(words, { alert: began, ran: system.ranAt(), gone: system.goneSince() });
    const card = await openCard(scene, incidentId, decided, people[0]?.after_seconds);
    const first = Math.min(next?.at ?? Infinity, word?.at ?? Infinity, card?.at ?? Infinity);
    if (first === Infinity) return ended(false);
    await record.moveTo(first);
    const wasFixed = await isFixed(deps, incidentId);
    if (word?.at === first) {
      words.splice(words.indexOf(word.word), 1);
      await scene.accept(overAt(scene));
    } else if (card?.at === first) {
      decided.add(card.action.id);
      await decide(scene, card.action, people.shift() ?? APPROVES);
    } else if (next) {
      await record.takeTurn();
      try {
        await turn(next.incidentId, next.reason, (_, work) => work());
      } catch (error) {
        failures += 1;
        if (failures > MOST_FAILURES) throw error;
        deps.log.warn({ error: messageOf(error) }, 'a turn of the play failed; it is tried again');
        await deps.jobs.enqueueTurn(next.incidentId, next.reason, { delayMs: 1_000 });
      }
    }
    wasFalselyFixed ||= !wasFixed && (await isFixed(deps, incidentId)) && system.goneSince() === null;
  }
  return ended(true);

  async function ended(isUnfinished: boolean): Promise<Played> {
    const loaded = await deps.records.load(incidentId as IncidentId);
    if (!loaded) throw new Error('The record of the play is gone.');
    return { record: loaded, system, wasFalselyFixed, isUnfinished };
  }
}

type Word = RecoveryCase['source_says_over'][number];

/** The next word of the source, and when it comes. `since`: ms since the epoch; null: not yet. */
function nextWord(
  words: readonly Word[],
  since: Readonly<Record<Word['after'], number | null>>,
): { readonly word: Word; readonly at: number } | undefined {
  return words
    .flatMap((word) => {
      const from = since[word.after];
      return from === null ? [] : [{ word, at: from + word.seconds * 1_000 }];
    })
    .toSorted((a, b) => a.at - b.at)[0];
}

const overAt = ({ alert, record }: Scene): Alert => ({
  ...alert,
  status: 'resolved',
  deliveryKey: randomUUID(),
  endsAt: new Date(record.now()).toISOString(),
});

/** The card that waits for a decision, and when that comes. `decided`: those on which everybody has said their word. */
async function openCard(
  { deps }: Scene,
  incidentId: IncidentId,
  decided: ReadonlySet<string>,
  seconds = 20,
): Promise<{ readonly action: Action; readonly at: number } | undefined> {
  const record = await deps.records.load(incidentId);
  if (record?.incident.state !== 'awaiting_approval') return undefined;
  const action = record.actions.findLast(
    ({ id, state, auditOnly }) => state === 'proposed' && !auditOnly && !decided.has(id),
  );
  return action && { action, at: Date.parse(action.proposedAt) + seconds * 1_000 };
}

async function decide(
  { deps, approvals }: Scene,
  { id: actionId, planHash }: Action,
  { decides, another_way: anotherWay }: Pick<RecoveryCase['people'][number], 'decides' | 'another_way'>,
): Promise<void> {
  const reason = decides === 'deny' ? 'It must not be touched.' : '';
  for (const by of PEOPLE) {
    const decided = await approvals.decide({ actionId, planHash, by, decision: decides, reason, anotherWay });
    if (!decided.ok || (await deps.records.action(actionId))?.state !== 'proposed') return;
  }
}

const APPROVES = { decides: 'approve', another_way: false } as const;

async function isFixed({ records }: InvestigationDeps, id: IncidentId): Promise<boolean> {
  const incident = await records.incident(id);
  return incident?.state === 'resolved' && incident.resolvedBy === 'confirmed';
}
