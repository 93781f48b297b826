import { move } from '../move.ts';
import { chooseEffort, effortEvents, restsOn } from './effort.ts';
import { goesOnAgain } from './muted.ts';
import type { PhaseRun } from './phase-run.ts';

/** The reason of a turn that comes when an alert has been quiet for long enough. */
const QUIET_TURN = 'quiet?';

const RESTS_WHILE_FLAPPING =
  'It comes and goes, so I do not look into each time. I look again once it stays, or when somebody asks.';

/** How its alert stands: `steady` was found to flap, and has not fired anew since. */
interface Flapping {
  readonly now: 'flaps' | 'steady' | 'no';
  /** It fired again after its incident had ended, and nothing mutes it. */
  readonly firedAgain: boolean;
  readonly leftMs: number;
  /** Newest first. */
  readonly flips: readonly string[];
}

/**
 * An alert that comes and goes has its incident rest: it is neither looked into nor called over at each flip. Once it has been
 * quiet, what its source calls over ends, and what fires all the time is looked into again, unless the policy asks for no more. `rests`: no end is believed now.
 */
export async function restWhileFlapping(run: PhaseRun): Promise<'moved' | 'rests' | 'no'> {
  const { deps, incident, durably } = run;
  // Not known to a turn that an earlier version began.
  if (!incident.flappingUntil) return 'no';
  const found = await durably('flaps?', () => readFlapping(run));
  if (found.now === 'flaps') {
    if (incident.state === 'resolved') return found.firedAgain ? rest(run, found) : 'no';
    if (incident.state !== 'reported' && incident.state !== 'escalated') return 'no';
    // It has fired again since that turn was asked for, which asked for one of its own.
    if (run.reason !== QUIET_TURN)
      await durably('come again', () =>
        deps.jobs.enqueueTurn(incident.id, QUIET_TURN, { delayMs: found.leftMs }).then(() => true),
      );
    return 'rests';
  }
  if (found.now === 'steady' && incident.state === 'reported' && incident.sourceResolvedAt === null) {
    await durably('look again', async () => {
      const chosen = await chooseEffort(run);
      if (await restsOn(run, chosen)) return 'rests';
      return move(deps, incident, {
        from: 'reported',
        to: 'diagnosing',
        reason: 'It no longer comes and goes: it fires.',
        key: `steady:${incident.round}:${incident.flappingUntil}`,
        events: effortEvents(chosen),
        changes: {
          ...(chosen ? { effort: chosen.effort } : {}),
          round: incident.round + 1,
          verdict: null,
          nextStep: 'Looking for the cause again.',
        },
      });
    });
    return 'moved';
  }
  return 'no';
}

async function rest({ deps, incident, durably }: PhaseRun, { flips, leftMs }: Flapping): Promise<'moved'> {
  await durably('rest', () =>
    move(deps, incident, {
      from: 'resolved',
      to: 'reported',
      reason: 'Its alert comes and goes.',
      key: `flapping:${incident.round}:${incident.endedAt ?? ''}`,
      events: [{ type: 'alert.flapping', flips: flips.toReversed() }],
      changes: { verdict: null, nextStep: RESTS_WHILE_FLAPPING, sourceResolvedAt: null },
      turnAfterMs: leftMs,
    }),
  );
  return 'moved';
}

/** By the clock of the database, which has said until when. */
async function readFlapping({ deps, incident }: PhaseRun): Promise<Flapping> {
  const [row] = await deps.sql<{ left_ms: number | null; flips: string[] }>`
    SELECT ceil(extract(epoch FROM flapping_until - clock_timestamp()) * 1000)::float8 AS left_ms,
           to_jsonb(flips) AS flips
      FROM incident WHERE id = ${incident.id}`;
  const leftMs = row?.left_ms ?? null;
  return {
    now: leftMs === null ? 'no' : leftMs > 0 ? 'flaps' : 'steady',
    firedAgain: incident.state === 'resolved' && (await goesOnAgain(deps, incident.id)),
    leftMs: Math.max(0, leftMs ?? 0) + 500,
    flips: (row?.flips ?? []).map((at) => new Date(at).toISOString()),
  };
}
