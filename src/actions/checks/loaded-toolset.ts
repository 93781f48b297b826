import { refuse } from '../../core/errors.ts';
import type { Sql } from '../../core/sql.ts';
import { LOAD_TOOLSET } from '../../tools/memory/load-toolset.ts';
import type { Check } from './check.ts';

/**
 * Check 7: tools of a toolset (the memory write tools) are declared from the start but refused until it is loaded: by
 * the credential, or by a call of `load_toolset` on this incident's record, which a restart does not forget.
 */
export function loadedToolset(sql: Sql): Check {
  return async ({ tool, credential }) => {
    const toolset = tool?.toolset;
    if (!toolset || credential.toolsets.has(toolset)) return undefined;
    const loaded = await sql`
      SELECT FROM tool_call WHERE incident_id = ${credential.incidentId} AND tool = ${LOAD_TOOLSET} AND state = 'ok'
        AND input->>'toolset' = ${toolset} AND input->>'include_write_tools' = 'true' LIMIT 1`;
    return loaded.length > 0
      ? undefined
      : refuse(
          'TOOLSET_NOT_LOADED',
          `Load the "${toolset}" toolset first: ${LOAD_TOOLSET} with toolset "${toolset}" and include_write_tools true.`,
        );
  };
}
