import type { IncidentId } from '../../src/core/ids.ts';
import type { Json, VerifyStep } from '../../src/core/tool-call.ts';
import { type Core, findsNothing } from './core.ts';

/** Symptoms that are there whatever a test does, by kind of target. */
const alwaysRed: Readonly<Record<'host' | 'postgres', VerifyStep>> = {
  host: {
    tool: 'list_files',
    input: { limit: 1 },
    measure: { name: 'disk_used_percent', bound: -1 },
    says: 'the disk is empty',
  },
  postgres: {
    tool: 'postgres_connections',
    input: {},
    measure: { name: 'connections_used_percent', bound: -1 },
    says: 'no connection is used',
  },
};

/** Puts a diagnosis on record that names what is to be touched: the gate proposes nothing beside it. */
export async function blame(
  { sql, records }: Pick<Core, 'sql' | 'records'>,
  id: IncidentId,
  input: Json,
  kind: keyof typeof alwaysRed,
): Promise<void> {
  const diagnosis = {
    ...findsNothing,
    verdict: 'cause_found',
    rootCause: `Something is wrong with ${JSON.stringify(input)}.`,
    criterion: { steps: [alwaysRed[kind]], holdMs: 1, timeoutMs: 1 },
  } as const;
  await sql.begin((tx) => records.append(tx, id, { type: 'diagnosis.concluded', round: 1, diagnosis }));
}
