import type { PolicySubjects } from '../actions/policy/read-policy.ts';
import type { Target } from '../core/target.ts';
import type { AnyTool } from '../tools/define.ts';
import { foreignName, type McpServerConfig } from '../tools/mcp/server-config.ts';

/** What a rule of the policy can name here. Tools of other programs count also while they are off. */
export function policySubjects(
  tools: readonly AnyTool[],
  servers: readonly McpServerConfig[],
  targets: Iterable<Pick<Target, 'name' | 'environment'>>,
): PolicySubjects {
  const active = tools.filter((tool) => tool.kind === 'active');
  const foreign = servers.flatMap(({ name, act }) => act.map((tool) => foreignName(name, tool)));
  const all = [...targets];
  return {
    tools: [...new Set([...active.map(({ name }) => name), ...foreign])],
    neverUnasked: [...active.filter(({ neverUnasked }) => neverUnasked).map(({ name }) => name), ...foreign],
    targets: all.map(({ name }) => name),
    environments: [...new Set(all.map(({ environment }) => environment))],
  };
}
