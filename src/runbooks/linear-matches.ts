import { type ASTNode, EvaluationError } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import { messageOf } from '../core/errors.ts';

/**
 * CEL's `matches` by RE2, as the language defines it (https://github.com/google/cel-spec, "Regular Expressions"). The library's own
 * is JavaScript's: there a pattern with a choice in a loop takes exponential time on a log line that somebody else wrote, and
 * holds the whole process. The library lets nobody replace a function of its own, so each call of it is named anew.
 */
export const LINEAR_MATCHES = 'matches_by_re2';

/** Instructions of a compiled pattern: the time per character grows with them. */
const MAX_PROGRAM = 2_000;
const cache = new Map<string, RE2JS>();

/** Throws in words when it is no pattern, or too dear a one. */
export function linearPattern(pattern: string): RE2JS {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const compiled = compile(pattern);
  if (compiled.programSize() > MAX_PROGRAM) throw new Error(`The pattern repeats too much: ${pattern}`);
  // Patterns are made with names of things, so the set of them is unbounded.
  if (cache.size >= 1_000) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const why = messageOf(error).replace('error parsing regexp: ', '');
    throw new Error(`Invalid regular expression: ${why} (RE2: no look-around, no back references)`);
  }
}

export function linearMatches(text: string, pattern: string): boolean {
  try {
    return linearPattern(pattern).test(text);
  } catch (error) {
    throw new EvaluationError(messageOf(error));
  }
}

/** In a parsed expression, before it is checked or evaluated: every call of `matches`, also within macros. */
export function replaceMatches(ast: ASTNode): void {
  for (const node of callsOf(ast, 'matches')) node.args[0] = LINEAR_MATCHES;
}

type MethodCall = Extract<ASTNode, { readonly op: 'rcall' }>;

/** Calls of a method, wherever they stand. */
export function callsOf(root: unknown, method: string): readonly MethodCall[] {
  const seen = new Set<object>();
  const calls: MethodCall[] = [];
  const walk = (node: unknown): void => {
    if (node === null || typeof node !== 'object' || seen.has(node)) return;
    seen.add(node);
    if (isCall(node) && node.args[0] === method) calls.push(node);
    for (const each of Object.values(node)) walk(each);
    // What a macro stands for is kept beside it.
    if ('meta' in node) walk((node.meta as { readonly alternate?: unknown }).alternate);
  };
  walk(root);
  return calls;
}

function isCall(node: object): node is MethodCall {
  return 'op' in node && node.op === 'rcall' && 'args' in node && Array.isArray(node.args);
}
