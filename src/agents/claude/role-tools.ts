import { z } from 'zod';
import { isOfTarget, mayUse, type ToolKind } from '../../actions/access.ts';
import type { Domain, Role } from '../../core/incident.ts';
import { isObject } from '../../core/json-of.ts';
import { withoutMarks } from '../../core/model-words.ts';
import type { Target } from '../../core/target.ts';
import type { Json, ToolCallRequest, ToolCallResult } from '../../core/tool-call.ts';
import type { ModelTool } from '../../llm/types.ts';
import { inputSchemaOf } from '../loop/report.ts';
import type { PromptedRole } from './load-prompt.ts';
import { shownOutput } from './shown-output.ts';

/** Whether what such a tool shows is so now; what is remembered, on record or documented, is so whatever happens. */
export const tellsOfNow = (kind: ToolKind): boolean =>
  ['read', 'diagnostic', 'changes', 'usual', 'foreign'].includes(kind);

/** What a tool is to a model; the registry's tools fit. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly kind: ToolKind;
  readonly domain?: Domain;
  readonly targetKinds?: readonly Target['kind'][];
  /** Paths in its data of what is only ever counted up. */
  readonly counters?: readonly string[];
  // oxlint-disable-next-line typescript/no-explicit-any -- tools of every input type; the gate parses each
  readonly input: z.ZodType<any>;
}

/** What an incident is about; undefined: not known, so nothing is left out for it. */
export interface Subject {
  readonly domain?: Domain | undefined;
  readonly targetKind?: Target['kind'] | undefined;
  /** Tools that are not for its target, by name. */
  readonly refuses?: Target['refuses'] | undefined;
  /** What may be read beside its target, by read tools alone. */
  readonly neighbours?: readonly Pick<Target, 'name' | 'kind'>[];
}

/**
 * A role's tools, all that fit the incident's target or a neighbour of it, in one order: the declaration is the same in all
 * incidents of one target, and the gate would refuse the others.
 *
 * @param targets what the role may name of its own
 */
export function toolsOf(
  role: PromptedRole,
  tools: readonly OfferedTool[],
  targets: readonly string[],
  subject: Subject = {},
): ModelTool[] {
  const usable = tools.filter(({ kind }) => mayUse(rightsOf(role), kind));
  const own = usable.filter((tool) => fits(tool, subject));
  const beside = firstOfEach(
    usable.filter((tool) => !own.includes(tool)),
    subject,
  );
  const declared = own.map((tool) => declare(tool, { own: targets, beside: neighboursFor(tool, subject) }));
  for (const tool of beside) {
    const next = declare(tool, { own: [], beside: neighboursFor(tool, subject) });
    if (JSON.stringify([...declared, next]).length <= MAX_CHARACTERS) declared.push(next);
  }
  return declared.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const declare = ({ name, description, kind, input }: OfferedTool, named: Named): ModelTool => ({
  name,
  description,
  inputSchema: withEnvelope(withoutBounds(inputSchemaOf(input)), kind, named),
});

/**
 * What leaves a list within 6,000 tokens, system text and report tool included, about 4 characters each: a neighbour's tools
 * that would go beyond it are left out.
 */
const MAX_CHARACTERS = 15_850;

/** For neighbours alone: the first tool of each, then the second, so that none gets all the room. */
function firstOfEach(tools: readonly OfferedTool[], { neighbours = [] }: Subject): readonly OfferedTool[] {
  const placed = neighbours.flatMap(({ kind }) =>
    tools
      .filter((tool) => tool.kind === 'read' && tool.targetKinds?.includes(kind))
      .map((tool, place) => ({ tool, place })),
  );
  const ordered = placed.toSorted((one, other) => one.place - other.place).map(({ tool }) => tool);
  return [...new Set(ordered)];
}

function neighboursFor({ kind, targetKinds }: OfferedTool, { neighbours = [] }: Subject): readonly string[] {
  if (kind !== 'read') return [];
  return neighbours.filter((each) => targetKinds?.includes(each.kind) ?? true).map(({ name }) => name);
}

/** Who answers questions reads like triage; who tests an explanation, like the detective that it is for. */
export function rightsOf(role: PromptedRole): Role {
  if (role === 'conversation') return 'triage';
  return role === 'lead' || role === 'specialist' ? 'detective' : role;
}

function fits(tool: OfferedTool, { domain, targetKind, refuses = {} }: Subject): boolean {
  if (Object.hasOwn(refuses, tool.name)) return false;
  const inDomain = tool.domain === undefined || tool.domain === 'any' || tool.domain === domain;
  const { targetKinds: kinds } = tool;
  const ofKind = kinds === undefined || (targetKind !== undefined && kinds.includes(targetKind));
  return (domain === undefined || inDomain) && (targetKind === undefined || ofKind);
}

/** Kept by the gate, which says so in words: each of them would be paid for in every turn. */
const BOUNDS = ['minLength', 'maxLength', 'maxItems', 'propertyNames'];

function withoutBounds<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(withoutBounds) as T;
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => !BOUNDS.includes(key) && !(key === 'additionalProperties' && value === false),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutBounds(value)])) as T;
}

/** What the gate wants beside the tool's own input, next to it in one flat object. */
const Envelope = z.object({
  target: z.string().nullable().catch(null),
  why: z.string().transform(withoutMarks).catch(''),
});

/** With more, naming them in every tool would cost more than it helps: they stand in the first user turn too. */
const MAX_NAMED_TARGETS = 5;

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** What a tool may be asked of. */
interface Named {
  readonly own: readonly string[];
  readonly beside: readonly string[];
}

function withEnvelope(
  schema: ObjectSchema,
  kind: ToolKind,
  { own, beside }: Named,
): Readonly<Record<string, unknown>> {
  // These have no target, and what they are asked for says itself why.
  if (!isOfTarget(kind)) return { ...schema };
  const active = kind === 'active';
  const targets = [...own, ...beside];
  const isNamed = targets.length > 0 && targets.length <= MAX_NAMED_TARGETS;
  // Nothing to choose from: a call that names none means the incident's.
  const target =
    own.length === 1 && beside.length === 0
      ? {}
      : { target: { type: 'string', ...(isNamed ? { enum: targets } : {}) } };
  // Said once for all of them in the policy: a description here is paid for in every tool.
  return {
    ...schema,
    properties: { ...target, ...schema.properties, why: { type: 'string' } },
    required: [...Object.keys(target), ...(schema.required ?? []), ...(active ? ['why'] : [])],
  };
}

/**
 * A model's call as the gate takes it. A call that names no target means the incident's; what does not fit otherwise is
 * left as it is: the gate answers with what is wrong.
 */
export function requestOf(
  tool: string,
  input: unknown,
  given: {
    readonly targets: readonly string[];
    /** The incident's; null for a tool that has none. */
    readonly target: string | null;
  },
): { readonly request: ToolCallRequest; readonly purpose: string | undefined } {
  const { target: named, why } = Envelope.parse(input);
  const { target: _, why: __, ...own } = input as Record<string, Json>;
  const wanted = named === null || named.trim() === '' ? given.target : named.trim();
  const target = given.targets.find((name) => name.toLowerCase() === wanted?.toLowerCase()) ?? wanted;
  return {
    // Its own arguments are no runbook's, whichever its diagnosis names: no card may say so, and no rule let them run unasked.
    request: { tool, target, input: own, proposal: { why, runbookId: null, verify: null } },
    purpose: why === '' ? undefined : why.slice(0, 200),
  };
}

/** A read that was made before: which call that was, how long ago, and what has changed. */
export interface Compared {
  readonly with: string;
  readonly seconds: number;
  readonly changed: readonly string[];
}

/** What the model reads: JSON that says which call this was, and when, and keeps its output a quoted string. */
export function answerOf(
  request: ToolCallRequest,
  result: ToolCallResult,
  at: Date,
  compared?: Compared,
): string {
  const head = {
    tool_call_id: result.toolCallId,
    tool: request.tool,
    target: request.target,
    status: result.kind,
    at: toTheSecond(at),
  };
  switch (result.kind) {
    case 'ok':
      // Said only when it is so: each of these is sent again with every later turn.
      return JSON.stringify({
        ...head,
        ...(result.truncated ? { truncated: true } : {}),
        ...(compared === undefined ? {} : { since_call: compared.with, changed: changesOf(compared) }),
        ...shownOutput(result.text),
      });
    case 'proposed':
      return JSON.stringify({ ...head, action_id: result.actionId, output: result.text });
    case 'failed':
    case 'refused':
      return JSON.stringify({ ...head, code: result.code, reason: result.reason });
  }
}

function changesOf({ seconds, changed }: Compared): string | readonly string[] {
  return changed.length === 0 ? `nothing in ${seconds} s` : changed;
}

/** ISO 8601, UTC. */
export function toTheSecond(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}

/** Memory, the record, changes and other programs have none. */
export function hasTarget(tools: readonly OfferedTool[], name: string): boolean {
  const kind = tools.find((tool) => tool.name === name)?.kind;
  return kind === undefined || isOfTarget(kind);
}
