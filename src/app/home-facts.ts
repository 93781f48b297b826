import type { ApproverDirectory } from '../actions/approvals/ports.ts';
import type { ApprovalPolicy } from '../actions/policy/policy.ts';
import { count } from '../core/count.ts';
import { messageOf } from '../core/errors.ts';
import type { Incident } from '../core/incident.ts';
import type { Log } from '../core/log.ts';
import { isEnded } from '../core/machine.ts';
import type { Target } from '../core/target.ts';
import type { Callees } from '../escalation/who-to-call.ts';
import type { WatchedState } from '../ingest/watch-board.ts';
import type { TargetSystem } from '../memory/systems/systems.ts';
import { usd } from '../record/cost.ts';
import type { HomeRecord } from '../record/home-record.ts';
import type { IncidentRecords } from '../record/record.ts';
import type { LayerStatus } from '../safety/layers.ts';
import type { BreakerView } from '../safety/limits/cost-breaker.ts';
import { redact } from '../safety/screen/redact.ts';
import { distinctiveWords } from '../search/text/distinctive-words.ts';
import type {
  HomeApproval,
  HomeCost,
  HomeFacts,
  HomeGap,
  HomeReader,
  HomeSources,
  HomeTool,
  HomeTools,
  HomeTried,
} from '../slack/views/home-facts.ts';
import type { TargetKind } from '../targets/kind.ts';
import type { ActiveTool, Tool } from '../tools/define.ts';
import { findGaps, targetsSeen } from './home-gaps.ts';

interface HomeDeps {
  readonly policy: Pick<ApprovalPolicy, 'isAdmin' | 'takes' | 'mayDecide' | 'mayAsk'>;
  /** What it has heard lately is enough: what a press does is asked anew. */
  readonly directory: ApproverDirectory;
  readonly targets: Iterable<Target>;
  readonly tools: readonly Tool[];
  readonly kinds: readonly TargetKind[];
  readonly layers: () => Promise<readonly LayerStatus[]>;
  readonly breaker: { view(): Promise<BreakerView> };
  /** Null: no model. */
  readonly model: string | null;
  readonly runbooks: () => number;
  readonly switchLines: () => Promise<readonly string[]>;
  /** Everything is stopped. */
  readonly isStopped: () => Promise<boolean>;
  readonly onCall: () => Promise<Callees | null>;
  readonly watched: () => Promise<readonly WatchedState[]>;
  readonly systems: () => Promise<readonly Pick<TargetSystem, 'target' | 'seenAt'>[]>;
  /** The account that Sentry reads a target with; null where it cannot be told. */
  readonly readerOf: (target: string) => string | null;
  readonly records: Pick<IncidentRecords, 'incident' | 'plan'>;
  readonly record: HomeRecord;
  readonly log: Log;
}

/** Of a person's lines about targets. */
const TARGETS_SHOWN = 12;
/** Days of the line that says how the cost went. */
const COST_DAYS = 14;
/** Keywords of what was tried. */
const WORDS = 15;

/** What App Home is made of. What cannot be told is said to be so, and nobody is an admin by mistake. */
export function createHomeSources(deps: HomeDeps): HomeSources {
  return {
    facts: (reader) => factsFor(deps, reader),
    layers: deps.layers,
    async access(userId) {
      const [isAdmin, access] = await Promise.all([isAdminOf(deps, userId), accessOf(deps, userId)]);
      return [
        ...(isAdmin
          ? ['Admin: you may stop and resume everything, and decide what everybody’s memory learns.']
          : []),
        ...access,
      ];
    },
    tools: () => toolsByKind(deps.tools, deps.kinds),
    watched: deps.watched,
    gaps: (reader) => gapsFor(deps, reader),
    tried: ({ recent }) => triedIn(deps.record, recent),
    targets: () => [...deps.targets].map(({ name }) => name),
  };
}

async function factsFor(deps: HomeDeps, reader: HomeReader): Promise<HomeFacts> {
  const { record } = deps;
  const ids = reader.recent.map(({ id }) => id);
  const [isAdmin, isStopped, switched, cost, onCall, looks, systems, gaps, approvals, holders, layers] =
    await Promise.all([
      isAdminOf(deps, reader.userId),
      deps.isStopped(),
      deps.switchLines(),
      costOf(deps),
      deps.onCall(),
      record.lastLooks(ids),
      deps.systems(),
      gapsFor(deps, reader),
      approvalsFor(deps, reader),
      record.holders(ids),
      deps.layers(),
    ]);
  const investigates = deps.model
    ? `Claude (${deps.model}) investigates; ${count(deps.runbooks(), 'runbook')} take over when it fails.`
    : `${count(deps.runbooks(), 'runbook')} investigate; no model is configured.`;
  return {
    isAdmin,
    isStopped,
    state: [...switched, investigates],
    cost,
    onCall,
    targets: targetsSeen(deps.targets, looks, systems, new Date()),
    gaps,
    approvals,
    holders,
    layers,
  };
}

/** What has to be granted is for those who may have more of a live system read. */
async function gapsFor(
  { policy, record, readerOf }: HomeDeps,
  { userId, recent }: HomeReader,
): Promise<readonly HomeGap[]> {
  return (await policy.mayAsk(userId)) ? [] : findGaps(record, recent, readerOf);
}

/** The plans that this person could approve with a press now, of incidents that they may read. */
async function approvalsFor(
  { policy, directory, records, record }: HomeDeps,
  { userId, mayRead }: HomeReader,
): Promise<readonly HomeApproval[]> {
  const waiting = await record.proposals();
  const found = await Promise.all(
    waiting.map(async (action): Promise<readonly HomeApproval[]> => {
      const incident = await records.incident(action.incidentId);
      if (incident === null || action.approvedBy.includes(userId) || !(await mayRead(incident))) return [];
      if (!action.beside && (isEnded(incident.state) || incident.state === 'stopped')) return [];
      const steps = await records.plan(action.planId);
      const refusals = await Promise.all(
        steps.map((step) => policy.mayDecide(userId, step, incident, 'approve', directory)),
      );
      return refusals.some((no) => no !== undefined) ? [] : [{ action, steps }];
    }),
  );
  return found.flat();
}

async function triedIn(record: HomeRecord, recent: readonly Incident[]): Promise<HomeTried> {
  const episodes = await record.episodes(recent.map(({ id }) => id));
  const times = new Map<string, number>();
  for (const { error } of episodes)
    for (const word of distinctiveWords(redact(error))) times.set(word, (times.get(word) ?? 0) + 1);
  return {
    incidents: recent.length,
    total: episodes.length,
    succeeded: episodes.filter(({ success }) => success === true).length,
    failed: episodes.filter(({ success }) => success === false).length,
    words: [...times].sort(([a, n], [b, m]) => m - n || a.localeCompare(b)).slice(0, WORDS),
  };
}

async function isAdminOf({ policy, log }: HomeDeps, userId: string): Promise<boolean> {
  try {
    return await policy.isAdmin(userId);
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'who is an admin cannot be told: App Home shows nothing of theirs');
    return false;
  }
}

async function costOf({ breaker, record }: HomeDeps): Promise<HomeCost> {
  const [{ todayUsd, state, reason, limits }, days] = await Promise.all([
    breaker.view(),
    record.costOfDays(COST_DAYS),
  ]);
  const held = {
    closed: 'breaker closed',
    open: `breaker OPEN, no model is asked: ${reason}`,
    half_open: `breaker half-open, one call tries: ${reason}`,
  }[state];
  return { says: `${usd(todayUsd)} of ${usd(limits.perDayUsd)} today, ${held}.`, days };
}

/** A line a target: what of its tools this person may approve, at medium risk; the card of each says the rest. */
async function accessOf(deps: HomeDeps, userId: string): Promise<readonly string[]> {
  try {
    const targets = [...deps.targets];
    const lines = await Promise.all(
      targets.slice(0, TARGETS_SHOWN).map((target) => mayApprove(deps, userId, target)),
    );
    const more = targets.length - lines.length;
    return [
      ...lines,
      ...(more > 0 ? [`and ${count(more, 'more target')}: their cards say who may approve.`] : []),
    ];
  } catch (error) {
    return [`What you may approve cannot be told now: ${messageOf(error)}`];
  }
}

async function mayApprove({ policy, tools }: HomeDeps, userId: string, target: Target): Promise<string> {
  const fitting = tools.filter(isActive).filter((tool) => fitsTarget(tool, target));
  const taken = await Promise.all(
    fitting.map(async (tool) => ({
      name: formatAct(tool),
      people: await policy.takes(userId, {
        tool: tool.name,
        target: target.name,
        risk: 'medium',
        runbookId: null,
      }),
    })),
  );
  const may = taken.filter(({ people }) => people !== null);
  if (may.length === 0) return `${target.name}: you approve nothing.`;
  const names = may.map(({ name, people }) =>
    people === 1 ? name : `${name} (with ${Number(people) - 1} more)`,
  );
  const isAll = may.length === taken.length && may.every(({ people }) => people === 1);
  return `${target.name}: you may approve ${isAll ? `every change` : names.join(', ')}.`;
}

/** Whether a tool is for this target. */
export const fitsTarget = (tool: Tool, { kind, domain, refuses = {} }: Target): boolean =>
  !Object.hasOwn(refuses, tool.name) &&
  (tool.targetKinds?.includes(kind) ?? true) &&
  (tool.domain === 'any' || tool.domain === domain);

const formatAct = ({ verbs }: ActiveTool): string => verbs.button.toLowerCase();
const isActive = (tool: Tool): tool is ActiveTool => tool.kind === 'active';

/** Those that work on the same kinds of system stand together. */
function toolsByKind(tools: readonly Tool[], kinds: readonly TargetKind[]): readonly HomeTools[] {
  const groups = new Map<string, HomeTool[]>();
  for (const tool of tools) {
    const plurals = kinds.filter(({ name }) => tool.targetKinds?.includes(name)).map(({ plural }) => plural);
    const domain = tool.targetKinds === undefined ? EVERYWHERE : plurals.join(', ');
    groups.set(domain, [
      ...(groups.get(domain) ?? []),
      { name: tool.name, kind: tool.kind, says: tool.description.split(/(?<=[.:]) /, 1)[0] ?? '' },
    ]);
  }
  return [...groups].map(([domain, listed]) => ({ domain, tools: listed }));
}

const EVERYWHERE = 'everywhere';
