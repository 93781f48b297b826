import { openPolicyRules } from '../actions/policy/policy-rules.ts';
import { messageOf } from '../core/errors.ts';
import { createAuditCheck, verifyHere } from '../safety/audit/audit-check.ts';
import { openCheckpointKey } from '../safety/audit/audit-checkpoint.ts';
import { auditConfigChange } from '../safety/audit/audit-config-change.ts';
import { checkpointLine, createAuditWitness } from '../safety/audit/audit-witness.ts';
import { createKillSwitch } from '../safety/kill-switch/kill-switch.ts';
import { createModeNotice } from '../safety/kill-switch/mode-notice.ts';
import { createCostBreaker } from '../safety/limits/cost-breaker.ts';
import { createThrottle } from '../safety/limits/throttle.ts';
import { createApprovalSeal } from '../safety/vault/approval-seal.ts';
import { openCredentialVault } from '../safety/vault/credentials.ts';
import { createIdentities } from '../safety/vault/identities.ts';
import { auditedSettings } from './audited-settings.ts';
import type { Foundations } from './foundations.ts';
import { layersNow, watchLayers } from './layers.ts';
import { openModelGuard } from './model-guard.ts';
import { policySubjects } from './policy-subjects.ts';

const TIDY_MS = 60 * 60_000;

export type Guards = Awaited<ReturnType<typeof createGuards>>;

/** What stands between anybody and a system: made once, before everything that has to pass it. */
export async function createGuards(on: Foundations) {
  const { config, sql, log, executorId, metrics, targets } = on;
  const { kinds } = on.parts;
  const { audit, settings, vaultKey } = on;
  const { announce } = on.slackWorkspace;
  const { auditChannel } = config;
  const checkpointKey = openCheckpointKey(config.dataDir, { make: true });
  const witness =
    checkpointKey &&
    createAuditWitness({
      sql,
      audit,
      key: checkpointKey,
      dataDir: config.dataDir,
      log,
      ...(auditChannel ? { post: (taken) => announce(checkpointLine(taken), auditChannel) } : {}),
    });
  const auditCheck = createAuditCheck({
    verify: (signal) => verifyHere(sql, config.dataDir, signal),
    metrics,
    log,
    tell: (text) => announce(text, auditChannel ?? undefined),
  });
  const identities = createIdentities({ sql, audit, key: vaultKey });
  const vault = await openCredentialVault({ sql, audit, identities, executorId, log });
  // A folder is known by its own key, and by its place: a copy is another one.
  const folder = `${checkpointKey?.id ?? ''} ${config.dataDir}`;
  const killSwitch = createKillSwitch(sql, { mode: config.mode, dataDir: config.dataDir, folder });
  const modeNotice = createModeNotice({ sql, audit, killSwitch, log });
  const breaker = createCostBreaker({ sql, audit, limits: config.cost, log });
  const rules = await openPolicyRules({
    sql,
    audit,
    log,
    path: config.policy.path,
    isRequired: config.policy.isNamed,
    people: settings,
    subjects: () => policySubjects(on.offered, config.mcp.servers, targets.values()),
    get approvers() {
      return settings.approvers;
    },
    approvalMinutes: config.approvalMinutes,
    environmentOf: (name) => targets.get(name)?.environment ?? '',
  });
  const modelGuard = await openModelGuard({ sql, records: on.records, audit, policy: config.modelGuard });
  const layers = () =>
    layersNow({ config, tools: on.tools, sql, killSwitch, breaker, verified: auditCheck.last });
  let endWatch = (): void => undefined;
  let tidying: NodeJS.Timeout | undefined;

  return {
    /** Who may approve it, for its card; null when the policy cannot be read. */
    async approversOf(action: Parameters<typeof rules.demands>[0]) {
      const demands = await rules.demands(action).catch((error: unknown) => {
        log.error(
          { error: messageOf(error) },
          'the policy cannot be read: a card names nobody who may approve',
        );
        return null;
      });
      return demands === null || 'ok' in demands ? null : demands.approvers;
    },
    audit,
    vault,
    seal: createApprovalSeal(vaultKey),
    killSwitch,
    /** Whose files hold for every process. */
    ownFolder: { id: folder, dataDir: config.dataDir, executorId },
    breaker,
    modelGuard,
    rules,
    throttle: createThrottle(sql, config.throttle),
    layers,
    async startGuards(): Promise<void> {
      await audit.append({
        kind: 'process.started',
        actor: 'system',
        details: { executorId, mode: config.mode },
      });
      await auditConfigChange(
        { sql, audit },
        { name: 'settings', kind: 'config.changed', ...auditedSettings(config, kinds) },
      );
      witness?.start();
      auditCheck.start();
      modeNotice.start((text) => announce(text));
      endWatch = watchLayers(layers, metrics);
      tidying = setInterval(() => {
        vault
          .tidy()
          .catch((error: unknown) => log.warn({ error: messageOf(error) }, 'old credentials stay for now'));
      }, TIDY_MS);
      tidying.unref();
    },
    /** Last of all: nothing may be done after it. */
    async stopGuards(): Promise<void> {
      endWatch();
      clearInterval(tidying);
      await auditCheck.stop();
      await modeNotice.stop();
      await vault.close();
      await audit.append({ kind: 'process.stopped', actor: 'system', details: { executorId } });
      await witness?.stop();
    },
  };
}
