import { isDeepStrictEqual } from 'node:util';
import type { Diagnosis } from '../core/diagnosis.ts';
import { messageOf } from '../core/errors.ts';
import type { Incident } from '../core/incident.ts';
import type { Sql } from '../core/sql.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { describeUsual } from '../core/usual.ts';
import type { UsualRead } from '../targets/kind.ts';
import { compareLast, compareSeen, type LastValue } from '../usual/usual-values.ts';
import type { InvestigationDeps } from './deps.ts';

/** By the id of a read what it has shown that is unusual: “412 connections, usually 80 to 120 at this hour (7 days)”. */
export type UnusualOf = (
  target: string,
  calls: readonly ToolCall[],
) => Promise<ReadonlyMap<string, readonly string[]>>;

/** More would hide what the claim itself says. */
const MOST = 2;

export function createUnusualOf(sql: Sql, readsOf: (target: string) => readonly UsualRead[]): UnusualOf {
  return async (target, calls) => {
    const seen = calls.flatMap((call) =>
      numbersIn(call, target, readsOf(target)).map((number) => ({ ...number, id: call.id })),
    );
    const values = await compareSeen(sql, target, seen);
    const found = new Map<string, string[]>();
    for (const [at, value] of values.entries()) {
      const says = value.unusual === 'higher' || value.unusual === 'lower' ? describeUsual(value) : null;
      const id = seen[at]?.id;
      if (says !== null && id !== undefined) found.set(id, [...(found.get(id) ?? []), says]);
    }
    return found;
  };
}

/** What is known of a target without a look at it, beside what is usual: by these reads on record, else by the newest sample. */
export interface LastUsual {
  /** Whether any numbers are kept of it. */
  isKept(target: string): boolean;
  of(target: string, calls: readonly ToolCall[]): Promise<readonly LastValue[]>;
}

export function createLastUsual(sql: Sql, readsOf: (target: string) => readonly UsualRead[]): LastUsual {
  return {
    isKept: (target) => readsOf(target).length > 0,
    of: (target, calls) => {
      const reads = readsOf(target);
      const seen = calls.flatMap((call) => numbersIn(call, target, reads));
      return compareLast(
        sql,
        target,
        reads.flatMap(({ numbers }) => numbers),
        seen,
      );
    },
  };
}

/** Only of a read of the target that asked for no part of it: of one container's neighbours nothing is usual. */
function numbersIn(call: ToolCall, target: string, reads: readonly UsualRead[]) {
  if (call.state !== 'ok' || call.target !== target) return [];
  return reads
    .filter(({ tool, input }) => tool.name === call.tool && isOfAll(call, input))
    .flatMap(({ numbers }) => numbers)
    .flatMap(({ value, ...number }) => {
      const told = value(call.result);
      return told === null ? [] : [{ number, value: told, at: new Date(call.startedAt) }];
    });
}

const isOfAll = ({ input }: ToolCall, declared: UsualRead['input']): boolean =>
  isDeepStrictEqual(input, {}) || isDeepStrictEqual(input, declared);

/**
 * A diagnosis whose claims also say what of the reads they cite is unusual. It changes no verdict and no confidence; each is said once, and
 * where it cannot be told the diagnosis stays as it is.
 */
export async function withUnusual(
  { unusualOf, records, log }: Pick<InvestigationDeps, 'unusualOf' | 'records' | 'log'>,
  { id, target }: Pick<Incident, 'id' | 'target'>,
  diagnosis: Diagnosis,
): Promise<Diagnosis> {
  if (unusualOf === undefined || target === null || diagnosis.evidence.length === 0) return diagnosis;
  try {
    const cited = new Set<string>(diagnosis.evidence.flatMap(({ toolCallIds }) => toolCallIds));
    const calls = (await records.load(id))?.toolCalls.filter((call) => cited.has(call.id)) ?? [];
    const found = await unusualOf(target, calls);
    if (found.size === 0) return diagnosis;
    const said = new Set<string>();
    const evidence = diagnosis.evidence.map((each) => {
      const own = each.toolCallIds.flatMap((call) => found.get(call) ?? []).filter((text) => !said.has(text));
      const shown = [...new Set(own)].slice(0, MOST);
      for (const text of shown) said.add(text);
      return shown.length === 0
        ? each
        : { ...each, claim: `${ended(each.claim)} Unusual: ${shown.join('; ')}.` };
    });
    return { ...diagnosis, evidence };
  } catch (error) {
    log.warn({ incident: id, error: messageOf(error) }, 'what is unusual could not be told');
    return diagnosis;
  }
}

const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
