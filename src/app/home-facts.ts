import type { ApprovalPolicy } from '../actions/policy/policy.ts';
import { count } from '../core/count.ts';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Target } from '../core/target.ts';
import { usd } from '../record/cost.ts';
import type { LayerStatus } from '../safety/layers.ts';
import type { BreakerView, CostLimits } from '../safety/limits/cost-breaker.ts';
import type { HomeFacts, HomeTools } from '../slack/views/home-facts.ts';
import type { TargetKind } from '../targets/kind.ts';
import type { ActiveTool, Tool } from '../tools/define.ts';

interface HomeDeps {
  readonly policy: Pick<ApprovalPolicy, 'isAdmin' | 'takes'>;
  readonly targets: Iterable<Target>;
  readonly tools: readonly Tool[];
  readonly kinds: readonly TargetKind[];
  readonly layers: () => Promise<readonly LayerStatus[]>;
  readonly breaker: { view(): Promise<BreakerView> };
  readonly limits: CostLimits;
  /** Null: no model. */
  readonly model: string | null;
  readonly runbooks: () => number;
  readonly switchLines: () => Promise<readonly string[]>;
  readonly log: Log;
}

/** Of a person's lines about targets. */
const TARGETS_SHOWN = 12;

/** App Home's facts for one person. What cannot be told is said to be so, and nobody is an admin by mistake. */
export function createHomeFacts(deps: HomeDeps): (userId: string) => Promise<HomeFacts> {
  return async (userId) => {
    const [isAdmin, access, layers, cost, switched] = await Promise.all([
      isAdminOf(deps, userId),
      accessOf(deps, userId),
      deps.layers(),
      costOf(deps),
      deps.switchLines(),
    ]);
    const investigates = deps.model
      ? `Claude (${deps.model}) investigates; ${deps.runbooks()} runbooks take over when it fails.`
      : `${deps.runbooks()} runbooks investigate; no model is configured.`;
    return {
      isAdmin,
      state: [...switched, investigates],
      cost,
      layers,
      access: [
        ...(isAdmin
          ? ['Admin: you may stop and resume everything, and decide what everybody’s memory learns.']
          : []),
        ...access,
      ],
      tools: toolsByKind(deps.tools, deps.kinds),
    };
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

async function costOf({ model, breaker, limits }: HomeDeps): Promise<readonly string[]> {
  const { todayUsd, spentUsd, state, reason } = await breaker.view();
  const minutes = limits.windowMs / 60_000;
  return [
    `Today (UTC) ${usd(todayUsd)} of ${usd(limits.perDayUsd)} · last ${minutes} minutes ${usd(spentUsd)} of ${usd(limits.usd)} · at most ${usd(limits.perIncidentUsd)} an incident`,
    state === 'closed'
      ? `The cost breaker is closed${model ? '' : '; without a model nothing is spent'}.`
      : `The cost breaker is ${state === 'open' ? 'OPEN: no model is asked' : 'half-open: one call tries'} (${reason}).`,
  ];
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

function toolsByKind(tools: readonly Tool[], kinds: readonly TargetKind[]): readonly HomeTools[] {
  const groups = [
    ...kinds.map(
      ({ name, plural }) => [plural, tools.filter((tool) => tool.targetKinds?.includes(name))] as const,
    ),
    ['everywhere', tools.filter((tool) => tool.targetKinds === undefined)] as const,
  ];
  return groups.map(([domain, all]) => ({
    domain,
    reading: all.filter(({ kind }) => kind !== 'active').length,
    changing: all.filter(isActive).map(formatAct),
  }));
}
