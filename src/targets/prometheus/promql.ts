import { parser } from '@prometheus-io/lezer-promql';

type Node = ReturnType<typeof parser.parse>['topNode'];

/** A comparison with one number: what is measured, and against what. */
export interface Comparison {
  /** The PromQL of what is compared. */
  readonly measured: string;
  readonly sign: string;
  readonly bound: number;
}

/** What can be told of an expression by its grammar alone. */
export interface Expression {
  /** Null: it is no comparison with a number. */
  readonly comparison: Comparison | null;
  /**
   * The selectors without whose series it returns nothing, whatever is wrong: an empty answer says something only where these
   * are there. Not those that it asks to be absent, or that only take something away.
   */
  readonly needs: readonly string[];
  /**
   * The expression without its comparisons, a part for each side of an `or`: what it returns is measured, whether or not it is
   * wrong, under the labels that an alert of it has.
   */
  readonly measured: readonly string[];
  /** Each thing that it compares, again without comparisons: what is no number there is on no side of any bound. */
  readonly compared: readonly string[];
  readonly unit: Unit;
}

/** By the naming rules alone, https://prometheus.io/docs/practices/naming/#base-units; empty where they tell none. */
export type Unit = string;

export function readExpression(text: string): Expression {
  const [top] = childrenOf(parser.parse(text).topNode);
  if (top === undefined) return { comparison: null, needs: [], measured: [], compared: [], unit: '' };
  return {
    comparison: comparisonIn(top, text),
    needs: [...new Set(needsOf(top, text))],
    measured: sidesOf(top).map((side) => measuredIn(side, text)),
    compared: [...new Set(comparedIn(top, text))],
    unit: unitOf(top, text),
  };
}

function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

const textOf = ({ from, to }: Node, text: string): string => text.slice(from, to);

/** What stands in brackets, is shifted in time or evaluated at one, is of the same unit and needs the same. */
const WRAPPERS = [
  'ParenExpr',
  'StepInvariantExpr',
  'OffsetExpr',
  'SubqueryExpr',
  'MatrixSelector',
  'UnaryExpr',
];
const SIGNS: Readonly<Record<string, string>> = {
  Gtr: '>',
  Gte: '>=',
  Lss: '<',
  Lte: '<=',
  Eql: '==',
  Neq: '!=',
};
const MIRRORED: Readonly<Record<string, string>> = { '>': '<', '>=': '<=', '<': '>', '<=': '>=' };

interface Binary {
  readonly left: Node;
  readonly operator: string;
  readonly right: Node;
  readonly isBool: boolean;
}

function binaryOf(node: Node): Binary | null {
  if (node.name !== 'BinaryExpr') return null;
  const children = childrenOf(node);
  const [left, operator] = children;
  const right = children.at(-1);
  if (left === undefined || operator === undefined || right === undefined) return null;
  return {
    left,
    operator: operator.name,
    right,
    isBool: children.some(({ name }) => name === 'BoolModifier'),
  };
}

function comparisonIn(node: Node, text: string): Comparison | null {
  const [inner] = childrenOf(node);
  if (node.name === 'ParenExpr' && inner) return comparisonIn(inner, text);
  const binary = binaryOf(node);
  const sign = SIGNS[binary?.operator ?? ''];
  if (binary === null || sign === undefined || binary.isBool) return null;
  const [left, right] = [numberIn(binary.left, text), numberIn(binary.right, text)];
  if (left === null && right !== null) return { measured: textOf(binary.left, text), sign, bound: right };
  if (left !== null && right === null)
    return { measured: textOf(binary.right, text), sign: MIRRORED[sign] ?? sign, bound: left };
  return null;
}

function numberIn(node: Node, text: string): number | null {
  const [inner] = childrenOf(node);
  if (node.name === 'ParenExpr' && inner) return numberIn(inner, text);
  const isNumber = /^Number(?:Duration)?Literal/.test(node.name) || node.name === 'UnaryExpr';
  const value = isNumber ? Number(textOf(node, text).replace(/\s/g, '') || Number.NaN) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

function needsOf(node: Node, text: string): readonly string[] {
  if (node.name === 'VectorSelector') return [textOf(node, text)];
  if (functionOf(node, text)?.startsWith('absent')) return [];
  const binary = binaryOf(node);
  const asked = binary?.operator === 'Unless' ? [binary.left] : childrenOf(node);
  return asked.flatMap((child) => needsOf(child, text));
}

const sidesOf = (node: Node): readonly Node[] => {
  const [inner] = childrenOf(node);
  if (node.name === 'ParenExpr' && inner) return sidesOf(inner);
  const binary = binaryOf(node);
  return binary?.operator === 'Or' ? [...sidesOf(binary.left), ...sidesOf(binary.right)] : [node];
};

function measuredIn(node: Node, text: string): string {
  const body = childrenOf(node).find(({ name }) => name === 'FunctionCallBody');
  const [argument] = body ? childrenOf(body) : [];
  const name = functionOf(node, text);
  // It is over when that is there which is asked to be absent.
  if (name === 'absent' && argument) return measuredIn(argument, text);
  if (name === 'absent_over_time' && argument) return `last_over_time(${measuredIn(argument, text)})`;
  const binary = binaryOf(node);
  if (binary?.operator === 'Unless') return measuredIn(binary.left, text);
  return binary !== null && binary.operator in SIGNS
    ? differenceIn(node, binary, text)
    : withChildren(node, text, measuredIn);
}

/** Of two vectors, what matches; a number that both sides give is no number where either is none. */
function differenceIn(node: Node, { left, right }: Binary, text: string): string {
  const [one, other] = [measuredIn(left, text), measuredIn(right, text)];
  if (numberIn(right, text) !== null) return `(${one})`;
  if (numberIn(left, text) !== null) return `(${other})`;
  const matching = childrenOf(node).find(({ name }) => name === 'MatchingModifierClause');
  return `((${one}) - ${matching ? textOf(matching, text) : ''} (${other}))`;
}

function comparedIn(node: Node, text: string): readonly string[] {
  if (functionOf(node, text)?.startsWith('absent')) return [];
  const binary = binaryOf(node);
  if (binary?.operator === 'Unless') return comparedIn(binary.left, text);
  const own = binary !== null && binary.operator in SIGNS ? [differenceIn(node, binary, text)] : [];
  return [...own, ...childrenOf(node).flatMap((child) => comparedIn(child, text))];
}

/** The text of a node with that of its children anew. */
function withChildren(node: Node, text: string, anew: (child: Node, text: string) => string): string {
  let at = node.from;
  let out = '';
  for (const child of childrenOf(node)) {
    out += text.slice(at, child.from) + anew(child, text);
    at = child.to;
  }
  return out + text.slice(at, node.to);
}

/** Also where it stands among the labels: `{__name__="up"}`. */
function metricOf(selector: Node, text: string): string | null {
  const name = childrenOf(selector).find((child) => child.name === 'Identifier');
  if (name) return textOf(name, text);
  return /\{[^}]*__name__\s*=\s*"([a-zA-Z_:][a-zA-Z0-9_:]*)"/.exec(textOf(selector, text))?.[1] ?? null;
}

/** The function or aggregation that a node is; null: it is none. */
function functionOf(node: Node, text: string): string | null {
  if (node.name !== 'FunctionCall' && node.name !== 'AggregateExpr') return null;
  const [name] = childrenOf(node);
  return name ? textOf(name, text).toLowerCase() : null;
}

const PER_SECOND = /^(?:rate|irate|deriv)$/;
/** What comes out is of the unit of what goes in. */
const KEEPS =
  /^(?:sum|avg|min|max|topk|bottomk|quantile|stddev|increase|delta|idelta|(?:avg|min|max|sum|last|quantile)_over_time|abs|ceil|floor|round|sort|sort_desc|clamp|clamp_min|clamp_max|label_replace|label_join)$/;

function unitOf(node: Node, text: string): Unit {
  if (node.name === 'VectorSelector') return unitOfMetric(metricOf(node, text) ?? '');
  if (WRAPPERS.includes(node.name))
    return (
      childrenOf(node)
        .map((child) => unitOf(child, text))
        .find(Boolean) ?? ''
    );
  const binary = binaryOf(node);
  if (binary !== null) {
    const keeps = comparisonIn(node, text) !== null || /^(?:And|Or|Unless)$/.test(binary.operator);
    const inner = numberIn(binary.left, text) === null ? binary.left : binary.right;
    return keeps ? unitOf(inner, text) : '';
  }
  const name = functionOf(node, text);
  const body = childrenOf(node).find((child) => child.name === 'FunctionCallBody');
  if (name === null || body === undefined) return '';
  const inner =
    childrenOf(body)
      .map((child) => unitOf(child, text))
      .find(Boolean) ?? '';
  // Of buckets that are counted by the second; what comes out is their bound.
  if (name === 'histogram_quantile') return inner.replace(/\/s$/, '');
  if (PER_SECOND.test(name)) return `${inner}/s`;
  return KEEPS.test(name) ? inner : '';
}

const BASE_UNITS: readonly (readonly [suffix: string, unit: Unit])[] = [
  ['seconds', 's'],
  ['bytes', 'B'],
  ['ratio', 'ratio'],
  ['celsius', '°C'],
  ['meters', 'm'],
  ['grams', 'g'],
  ['volts', 'V'],
  ['amperes', 'A'],
  ['joules', 'J'],
];

export function unitOfMetric(metric: string): Unit {
  const name = metric.replace(/_(?:total|sum|bucket)$/, '');
  return BASE_UNITS.find(([suffix]) => name.endsWith(`_${suffix}`))?.[1] ?? '';
}
