import type { z } from 'zod';
import type { Measure } from '../../../core/measure.ts';
import type { Json } from '../../../core/tool-call.ts';
import type { ReadTool, ToolOutput } from '../../../tools/define.ts';
import { withoutBreaks } from '../../format.ts';
import type { PostgresSession, PostgresSystem, Row } from '../system.ts';
import { postgresTool } from '../tool.ts';

/** What a PostgreSQL read tool adds to the common part. */
export interface PostgresReadSpec<I> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<I>;
  readonly kind?: 'read' | 'diagnostic';
  /** Default 10 s. */
  readonly timeoutMs?: number;
  readonly measures?: readonly Measure[];
  /** See `ReadTool.counters`. */
  readonly counters?: readonly string[];
  read(session: PostgresSession, input: I): Promise<ToolOutput>;
}

/** A read tool that runs in one read-only session on its target. */
export function postgresReadTool<I>(spec: PostgresReadSpec<I>): ReadTool<I, PostgresSystem> {
  const { name, description, input, kind = 'read', timeoutMs = 10_000, measures = [], counters } = spec;
  return postgresTool.read<I>({
    name,
    description,
    kind,
    input,
    timeoutMs,
    measures,
    ...(counters === undefined ? {} : { counters }),
    run: (context, parsed) =>
      context.system.read((session) => spec.read(session, parsed), {
        timeoutMs: context.timeoutMs,
        signal: context.signal,
      }),
  });
}

/** `server_version_num`: 130000 is 13, 180004 is 18.4. */
export async function serverVersion(session: PostgresSession): Promise<number> {
  const [row] = await session.query(`SELECT current_setting('server_version_num')::int AS version`);
  return Number(row?.['version']);
}

/** Rows of a session hold nothing but JSON values (see infra/postgres/wire-types). */
export function rowsAsJson(rows: readonly Row[]): readonly { readonly [key: string]: Json }[] {
  return rows as readonly { readonly [key: string]: Json }[];
}

export function output(lines: readonly string[], data: Json): ToolOutput {
  return { text: lines.map(withoutBreaks).join('\n'), data };
}
