import { isMap, isNode, isScalar, isSeq, type Node } from 'yaml';
import type { z } from 'zod';
import { readYaml } from '../safety/inputs/read-yaml.ts';
import type { YamlPart } from './markdown.ts';
import type { RunbookProblem } from './runbook.ts';

type Path = readonly PropertyKey[];

/** A piece of YAML inside a file: its value, and where in the file each part of it stands. */
export interface LocatedYaml<T> {
  readonly value: T;
  /** A problem at the value under `path`, or at the nearest one above it that exists; `offset` characters into it. */
  problem(path: Path, message: string, offset?: number): RunbookProblem;
}

/** Parses and validates one piece of YAML; every problem names line and column in the whole file. */
export function parseYamlPart<T>(
  file: string,
  part: YamlPart,
  schema: z.ZodType<T>,
): { readonly yaml: LocatedYaml<T> | null; readonly problems: readonly RunbookProblem[] } {
  const read = readYaml(part.text, 20);
  const place = (line: number, column: number, message: string): RunbookProblem => ({
    file,
    line: part.line + line - 1,
    column,
    message,
  });
  if (!read.ok)
    return {
      yaml: null,
      problems: read.faults.map(({ line, column, message }) => place(line, column, `not YAML: ${message}`)),
    };
  // Where nothing stands a schema says what is missing.
  const { document, lines, value = null } = read;

  const problem = (path: Path, message: string, offset = 0): RunbookProblem => {
    const { line, col } = lines.linePos(positionOf(document.contents, path, offset));
    return place(Math.max(line, 1), Math.max(col, 1), message);
  };
  const parsed = schema.safeParse(value);
  if (parsed.success) return { yaml: { value: parsed.data, problem }, problems: [] };
  return {
    yaml: null,
    problems: parsed.error.issues
      .flatMap((issue) => describe(issue, []))
      .map(([path, text]) => problem(path, text)),
  };
}

function positionOf(root: unknown, path: Path, offset: number): number {
  let node: unknown = root;
  let position = isNode(root) ? (root.range?.[0] ?? 0) : 0;
  for (const [depth, key] of path.entries()) {
    const next = childOf(node, key);
    if (next === undefined) return position;
    node = next.value;
    // The last key itself is what a person looks for; inside a long text its value is.
    position =
      depth === path.length - 1 && offset === 0 ? next.start : (rangeStart(next.value) ?? next.start);
  }
  return position + offset + (offset > 0 ? insideText(node) : 0);
}

function childOf(node: unknown, key: PropertyKey): { value: unknown; start: number } | undefined {
  // Where a list may be written as its only item, the item stands for the list.
  if (key === 0 && !isSeq(node)) return { value: node, start: rangeStart(node) ?? 0 };
  if (isMap(node)) {
    const pair = node.items.find((item) => isScalar(item.key) && item.key.value === key);
    return pair && { value: pair.value, start: rangeStart(pair.key) ?? rangeStart(pair.value) ?? 0 };
  }
  const item: unknown = isSeq(node) ? node.items[Number(key)] : undefined;
  return item === undefined ? undefined : { value: item, start: rangeStart(item) ?? 0 };
}

const rangeStart = (node: unknown): number | undefined => (node as Node | null)?.range?.[0];

/** A quoted text begins one character after its range does; of a block text only the first line's place is known. */
function insideText(node: unknown): number {
  return isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE') ? 1 : 0;
}

/** A union's own message ("Invalid input") helps nobody: the branch that got furthest says what is wrong. */
function describe(issue: z.core.$ZodIssue, above: Path): (readonly [Path, string])[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => [[...path, key], `"${key}" is not known here`] as const);
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const reach = (branch: readonly z.core.$ZodIssue[]) =>
      Math.max(...branch.map((inner) => inner.path.length));
    const [closest] = [...issue.errors].toSorted((a, b) => reach(b) - reach(a));
    return (closest ?? []).flatMap((inner) => describe(inner, path));
  }
  const name = path.length === 0 ? '' : `${path.map(String).join('.')}: `;
  return [[path, `${name}${issue.message.replace(/^Invalid input: /, '')}`]];
}
