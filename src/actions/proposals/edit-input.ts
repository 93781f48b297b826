import { type Refusal, refuse } from '../../core/errors.ts';
import { isObject } from '../../core/json-of.ts';
import type { Json } from '../../core/tool-call.ts';
import type { ActiveTool, AnyTool } from '../../tools/define.ts';

/** An argument of a proposal that a person may change, as it stands. */
export interface EditableField {
  readonly name: string;
  readonly value: string;
}

/** The tools that are offered, by name. */
export interface OfferedTools {
  get(name: string): AnyTool | undefined;
}

const fieldsOf = (input: Json): Readonly<Record<string, Json>> =>
  isObject(input) ? (input as Readonly<Record<string, Json>>) : {};

/** None where the tool declares none: what names the thing it is done to is never among them. */
export function editableFields(tool: AnyTool | undefined, input: Json): readonly EditableField[] {
  if (tool?.kind !== 'active') return [];
  const now = fieldsOf(input);
  return (tool.editable ?? []).map((name) => ({ name, value: textOf(now[name]) }));
}

/** The input with what was entered in place of what it held; a refusal names the argument that the tool does not take. */
export function editInput(
  tool: AnyTool | undefined,
  input: Json,
  entered: Readonly<Record<string, string>>,
): { readonly ok: true; readonly input: Json } | Refusal {
  if (tool?.kind !== 'active') return refuse('UNKNOWN_TOOL', 'What this would run is not offered any more.');
  const editable: ReadonlySet<string> = new Set(tool.editable ?? []);
  const changed: Record<string, Json> = { ...fieldsOf(input) };
  for (const [name, text] of Object.entries(entered)) {
    if (!editable.has(name)) return refuse('NOT_EDITABLE', `“${name}” cannot be changed here.`);
    const value = valueOf(text, changed[name]);
    if (value === undefined) delete changed[name];
    else changed[name] = value;
  }
  const parsed = (tool as ActiveTool).input.safeParse(changed);
  if (parsed.success) return { ok: true, input: parsed.data as Json };
  const issue = parsed.error.issues[0];
  return refuse(
    'INVALID_INPUT',
    `${issue?.path.join('.') || 'This'}: ${issue?.message ?? 'it is not taken'}.`,
  );
}

const textOf = (value: Json | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** Of the type that it had; what had none yet is a number or a switch where it looks like one. Undefined: left out. */
function valueOf(text: string, before: Json | undefined): Json | undefined {
  if (text === '') return undefined;
  if (typeof before === 'string') return text;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  return text;
}
