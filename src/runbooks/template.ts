import type { Json } from '../core/tool-call.ts';
import { type Evaluated, evaluate, type Variables } from './expression.ts';

/** A piece of a template: text as it stands, or a CEL expression between `${` and `}`. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'expression'; readonly expression: string; readonly offset: number };

/** Splits `pid ${root.pid} waits`. A `}` inside the expression's own braces or strings does not end it. */
export function templateParts(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let from = 0;
  for (;;) {
    const open = template.indexOf('${', from);
    const close = open === -1 ? -1 : closingBrace(template, open + 2);
    if (close === -1) break;
    if (open > from) parts.push({ kind: 'text', text: template.slice(from, open) });
    parts.push({ kind: 'expression', expression: template.slice(open + 2, close), offset: open + 2 });
    from = close + 1;
  }
  if (from < template.length) parts.push({ kind: 'text', text: template.slice(from) });
  return parts;
}

function closingBrace(text: string, from: number): number {
  let depth = 0;
  let quote = '';
  for (let at = from; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return -1;
}

export type RenderedText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** Fills a text for people. */
export function renderText(template: string, variables: Variables): RenderedText {
  return fill(template, variables, textOf);
}

/** Fills a CEL expression: each value is written as a CEL literal, so that a value can never change what is tested. */
export function renderExpression(template: string, variables: Variables): RenderedText {
  return fill(template, variables, (value) => JSON.stringify(value));
}

/** Fills a tool's input. A value that is one expression and nothing else keeps its type: `${root.pid}` stays a number. */
export function renderInput(input: Json, variables: Variables): Evaluated {
  if (typeof input === 'string') {
    const parts = templateParts(input);
    const only = parts.length === 1 ? parts[0] : undefined;
    if (only?.kind === 'expression') return evaluate(only.expression, variables);
    const rendered = renderText(input, variables);
    return rendered.ok ? { ok: true, value: rendered.text } : rendered;
  }
  if (Array.isArray(input)) {
    const items: Json[] = [];
    for (const item of input as readonly Json[]) {
      const rendered = renderInput(item, variables);
      if (!rendered.ok) return rendered;
      items.push(rendered.value);
    }
    return { ok: true, value: items };
  }
  if (input !== null && typeof input === 'object') {
    const filled: Record<string, Json> = {};
    for (const [key, item] of Object.entries(input)) {
      const rendered = renderInput(item, variables);
      if (!rendered.ok) return rendered;
      filled[key] = rendered.value;
    }
    return { ok: true, value: filled };
  }
  return { ok: true, value: input };
}

function fill(template: string, variables: Variables, write: (value: Json) => string): RenderedText {
  let text = '';
  for (const part of templateParts(template)) {
    if (part.kind === 'text') {
      text += part.text;
      continue;
    }
    const value = evaluate(part.expression, variables);
    if (!value.ok) return value;
    text += write(value.value);
  }
  return { ok: true, text };
}

function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && !Number.isInteger(value)) return String(Math.round(value * 100) / 100);
  if (Array.isArray(value)) return (value as readonly Json[]).map(textOf).join(', ');
  return value === null ? 'unknown' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}
