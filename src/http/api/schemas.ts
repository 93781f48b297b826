import { z } from 'zod';
import { actionStates } from '../../core/action.ts';
import { severities } from '../../core/alert.ts';
import { incidentStates } from '../../core/incident.ts';
import { time } from './fields.ts';

const url = z.string().nullable();

/** How a part of Sentry is. */
export const Part = z.object({
  name: z.string(),
  state: z.string().describe('`ok`, or in one word what it is instead.'),
  reason: z.string().nullable(),
});

export const Status = z.object({
  version: z.string(),
  mode: z.enum(['AUDIT', 'ACTIVE']).describe('AUDIT: nothing is changed.'),
  changes: z.object({
    stopped: z.boolean().describe('Nothing is changed anywhere, by the mode or by a stop of everything.'),
    lines: z.array(z.string()).describe('What is stopped, by whom and why.'),
  }),
  incidents: z.object({
    unfinished: z.int().describe('How many have not ended; a state is counted up to 10,000.'),
    byState: z.partialRecord(z.enum(incidentStates), z.int()),
  }),
  cost: z.object({
    breaker: z.enum(['closed', 'open', 'half_open']).describe('`open`: no model is asked.'),
    since: time,
    reason: z.string(),
    spentUsd: z.number().describe('In the window.'),
    limitUsd: z.number(),
    windowMinutes: z.number(),
    todayUsd: z.number(),
    perDayUsd: z.number(),
    perIncidentUsd: z.number(),
  }),
  model: z.string().nullable().describe('Null: runbooks investigate.'),
  targets: z.array(z.string()).describe('The names of the configured systems.'),
  parts: z.array(Part),
});

export const Mutes = z
  .array(
    z.object({
      id: z.string(),
      matcher: z.string(),
      by: z.string().describe('A Slack user id, who used the command line, or `maintenance`.'),
      reason: z.string(),
      begunAt: time,
      until: time,
      alerts: z.int().describe('That came while it held, and of how many incidents.'),
      incidents: z.int(),
      firing: z.int().describe('Incidents of it that still fire: they are opened at its end.'),
    }),
  )
  .describe('The first to end first.');

export const IncidentSummary = z.object({
  id: z.string(),
  state: z.enum(incidentStates),
  title: z.string(),
  severity: z.enum(severities),
  target: z.string().nullable().describe('The configured system; null: the alert names none that is known.'),
  domain: z.string(),
  type: z.string().nullable().describe('The known kind of problem.'),
  cause: z.string().nullable().describe('As it is known so far.'),
  confidence: z.number().nullable().describe('In the cause, 0 to 1.'),
  next: z.string().nullable().describe('What happens next, or what a person should do.'),
  occurrences: z.int(),
  members: z.int().describe("Alerts of the sender's group; 1 where there is no group."),
  membersFiring: z.int(),
  resolvedBy: z
    .enum(['confirmed', 'source', 'person'])
    .nullable()
    .describe('On whose word it is over; `confirmed`: Sentry saw the problem gone after a repair.'),
  openedAt: time,
  updatedAt: time,
  endedAt: time.nullable(),
  thread: url.describe('Its thread in Slack; null: not begun, or Slack was not reached yet.'),
});

export const IncidentAction = z.object({
  id: z.string(),
  plan: z.string().describe('The id of the first step of its plan; an approval is for all of them.'),
  step: z.int(),
  state: z.enum(actionStates),
  purpose: z.enum(['repair', 'prevent', 'undo']),
  tool: z.string(),
  target: z.string(),
  command: z.string().describe('What runs, exactly.'),
  why: z.string(),
  risk: z.enum(['low', 'medium', 'high']),
  wouldOnly: z.boolean().describe('Proposed while nothing may be changed: it cannot be approved.'),
  approvalsNeeded: z.int(),
  approvedBy: z.array(z.string()).describe('Slack user ids; `policy`: a rule.'),
  decidedBy: z.string().nullable(),
  decidedAt: time.nullable(),
  decisionReason: z.string().nullable(),
  expiresAt: time,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  outcome: z.string().nullable(),
});

const TimelineEntry = z.object({
  seq: z.int().describe('Grows; of its event.'),
  at: time,
  text: z.string(),
});

export const IncidentDetail = IncidentSummary.extend({
  investigator: z.enum(['claude', 'playbook']).nullable(),
  round: z.int(),
  verdict: z.enum(['fixed', 'done', 'not_fixed', 'cannot_tell']).nullable(),
  costUsd: z.number(),
  requesters: z.array(z.string()).describe('Who opened it or gave hints: Slack user ids, `api:…`, `mcp:…`.'),
  labels: z.record(z.string(), z.string()),
  actions: z.array(IncidentAction),
  timeline: z.object({
    entries: z.array(TimelineEntry).describe('Oldest first.'),
    next: z.int().nullable().describe('Give it as `after` for what follows; null: that is all so far.'),
  }),
  links: z.object({ self: z.string(), why: z.string(), thread: url }),
});

export const IncidentPage = z.object({
  incidents: z.array(IncidentSummary).describe('Newest first.'),
  next: z
    .string()
    .nullable()
    .describe(
      'Give it as `cursor` for what follows; null: there is no more. A page may hold fewer than its limit.',
    ),
  complete: z
    .boolean()
    .describe('False: of some incidents Slack cannot say now who may read them; they are left out.'),
});

export const OpenedIncident = z.object({
  id: z.string(),
  target: z.string().nullable().describe('Null: no configured system is named, so there is little to read.'),
  opened: z.boolean().describe('False: the same request came before, and this is its incident.'),
  links: z.object({ self: z.string(), why: z.string() }),
});

export const Watchers = z.object({
  logs: z
    .array(
      z.object({
        target: z.string(),
        log: z.string(),
        state: z.enum(['watched', 'stopped', 'waiting']).describe('`waiting`: no process has taken it up.'),
        lines: z.int(),
        matched: z.int(),
        cut: z.int().describe('Lines too long to be read whole.'),
        lineRate: z.number().describe('A second.'),
        matchRate: z.number().describe('A second.'),
        problem: z.string().nullable().describe('Why it cannot be read.'),
        note: z.string().nullable().describe('What was lost of it.'),
        notedAt: time.nullable(),
        stoppedBy: z.string().nullable(),
        stoppedAt: time.nullable(),
      }),
    )
    .describe('Watched logs.'),
  targets: z
    .array(
      z.object({
        target: z.string(),
        kind: z.string(),
        problem: z.string().nullable().describe('Why it cannot be watched now, as this process sees it.'),
        toldAt: time.nullable().describe('When it last told anything.'),
      }),
    )
    .describe('Systems that tell by themselves when something goes wrong, such as container engines.'),
});
