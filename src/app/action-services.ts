import { createApprovals } from '../actions/approvals/approvals.ts';
import { createGate } from '../actions/gate.ts';
import { createApprovalPolicy } from '../actions/policy/policy.ts';
import { createUndo } from '../actions/undo.ts';
import { alertChecks } from '../agents/playbook/alert-checks.ts';
import { createDryRun } from '../agents/playbook/dry-run.ts';
import type { Json } from '../core/tool-call.ts';
import { proposeByModel } from '../memory/promotion/propose.ts';
import { redact, redactJson } from '../safety/screen/redact.ts';
import { createRegistry } from '../tools/registry.ts';
import { createUsualValues } from '../usual/usual-values.ts';
import { createChangeServices } from './change-services.ts';
import type { Foundations } from './foundations.ts';
import type { Guards } from './guards.ts';
import type { MemoryServices } from './memory-services.ts';
import { docsOf } from './tool-ports.ts';
import { createWorkspace } from './workspace.ts';

export type ActionServices = ReturnType<typeof createActionServices>;

/** The one way to a tool, who may say yes to it, and what only passes that way: undo, the trial of a promoted runbook. */
export function createActionServices(on: Foundations, guards: Guards, remembered: MemoryServices) {
  const { config, sql, log, records, targets, systems } = on;
  const { audit, vault, seal, killSwitch, rules } = guards;
  const { settings, slackWorkspace, shutdown } = on;
  const { documents, memory, proposing, knownRunbooks } = remembered;
  const policy = createApprovalPolicy({
    get approvers() {
      return settings.approvers;
    },
    get admins() {
      return settings.admins;
    },
    get oncallGroup() {
      return settings.oncallGroup;
    },
    refresh: settings.refresh,
    directory: slackWorkspace.directory,
    rules,
  });
  const approvals = createApprovals({ sql, records, policy, audit, seal });
  const { looks, asked } = createChangeServices(on);
  const gate = createGate({
    rules,
    approvers: policy,
    seal,
    sql,
    records,
    audit,
    vault,
    throttle: guards.throttle,
    killSwitch,
    registry: createRegistry(on.offered),
    memory: {
      documents,
      search: memory.search,
      promotions: {
        propose: (reader, proposal) =>
          proposeByModel(proposing, on.slackWorkspace.audiences, reader, proposal),
      },
    },
    ...(config.memory.enabled ? { audiences: on.slackWorkspace.audiences } : {}),
    changes: asked,
    ...(config.usualMinutes === null
      ? {}
      : { usual: createUsualValues({ sql, targets, read: systems.usual }) }),
    targets,
    ports: { ...systems, docs: docsOf(config) },
    identity: systems.identity,
    runbookChecks: (incident) => alertChecks(knownRunbooks(incident), incident),
    runbookVersion: remembered.runbookVersion,
    redact,
    redactJson: (value: Json) => redactJson(value),
    approvalMinutes: config.approvalMinutes,
    log,
  });
  const dryRun = createDryRun({
    load: (id) => records.load(id),
    gate,
    vault,
    targets: on.eachTarget,
    shutdown: shutdown.signal,
  });
  return {
    policy,
    approvals,
    gate,
    looks,
    undo: createUndo({
      sql,
      records,
      audit,
      vault,
      killSwitch,
      gate,
      approvals,
      policy,
      registry: on.registry,
      targets,
      shutdown: shutdown.signal,
    }),
    workspace: createWorkspace({
      ...proposing,
      audit,
      documents,
      isAdmin: (user) => policy.isAdmin(user),
      dryRun,
      promoted: remembered.promoted,
      memory,
      bus: on.bus,
      log,
    }),
  };
}
