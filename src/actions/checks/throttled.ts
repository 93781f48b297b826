import type { Target } from '../../core/target.ts';
import type { Throttle } from '../../safety/limits/throttle.ts';
import type { Credential } from '../../safety/vault/credentials.ts';
import type { Check } from './check.ts';
import { reachOf } from './target-in-scope.ts';

/**
 * Check 4: neither the role, the tool, the target nor the incident has too many calls, over all processes. The validator
 * watches, so its calls do not count for the incident; those of MCP clients are counted apart, so that they take nothing
 * from the investigation. What a person has approved is counted in the ledger, not here.
 */
export function throttled(throttle: Throttle, targets: ReadonlyMap<string, Target>): Check {
  return ({ credential, tool, request: { target } }) => {
    if (credential.singleUse || !tool) return undefined;
    return throttle.take({
      role: credential.role,
      tool: tool.name,
      // Any other name is refused next, and must not fill the table.
      target: target !== null && reachOf(targets, credential.targets, target) !== null ? target : null,
      incidentId: countedFor(credential),
    });
  };
}

function countedFor({ role, incidentId }: Credential): string | null {
  if (role === 'validator') return null;
  return role === 'mcp' ? `mcp:${incidentId}` : incidentId;
}
