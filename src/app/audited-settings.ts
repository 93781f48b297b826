import type { Config } from '../config/config.ts';
import { canonicalJson } from '../core/canonical-json.ts';
import type { Json } from '../core/tool-call.ts';
import type { TargetKind } from '../targets/kind.ts';
import { kindOf } from '../targets/systems.ts';

/** The settings that say what Sentry may do and who decides, without a secret among them: for the audit log. */
export function auditedSettings(
  config: Config,
  kinds: readonly TargetKind[],
): {
  readonly text: string;
  readonly details: { readonly [key: string]: Json };
} {
  const { mode, model, targets, throttle, http, policy, approvers, admins, approvalMinutes, slack } = config;
  const settings = {
    mode,
    model: config.llm ? model : null,
    sceptic: config.sceptic,
    targets: targets.map((target) => ({
      name: target.name,
      kind: target.kind,
      environment: target.environment,
      aliases: target.aliases,
      alerts: target.alerts ?? [],
      ...(target.neighbours?.length ? { neighbours: target.neighbours } : {}),
      ...(target.changesFrom ? { changesFrom: target.changesFrom } : {}),
      ...kindOf(kinds, target).settings(target),
    })),
    approvers,
    admins,
    oncallGroup: config.oncallGroup,
    approvalMinutes,
    policy: policy.path,
    throttle,
    docsHosts: config.docsHosts,
    http: { host: http.host, hasSecret: http.webhookSecret !== null, rate: http.rate, proxies: http.proxies },
    ...(http.apiTokens.length > 0
      ? { apiTokens: http.apiTokens.map(({ name, scopes }) => ({ name, scopes })) }
      : {}),
    ...(config.statusPages.length > 0 ? { statusPages: config.statusPages } : {}),
    ...(config.repositories.length > 0
      ? {
          repositories: config.repositories.map(({ name, of, branch, at }) => ({
            name,
            of,
            branch,
            at: at.kind === 'local' ? at.path : `${new URL(at.api).host}/${at.owner}/${at.repo}`,
          })),
        }
      : {}),
    mcpServers: config.mcp.servers.map(({ name, transport, read, act }) => ({
      name,
      at: transport.kind === 'stdio' ? transport.command : new URL(transport.url).host,
      read,
      act,
    })),
    mcpCallers: config.mcp.callers.map(({ name, user }) => ({ name, user })),
    escalation: config.escalation && {
      ...config.escalation,
      pagers: config.escalation.pagers.map(({ name, type }) => ({ name, type })),
      schedules: config.escalation.schedules.map(({ name, type }) => ({ name, type })),
    },
    slack: slack.kind,
    ownDatabase: config.databaseUrl !== null,
    vaultKeyGiven: config.vaultKey !== null,
  } as unknown as { readonly [key: string]: Json };
  return { text: canonicalJson(settings), details: settings };
}
