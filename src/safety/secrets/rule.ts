/** The seed's categories of what memory must not hold, with two that redaction adds: `vendor_token` and `password`. */
export type Category =
  | 'aws_key'
  | 'github_token'
  | 'private_key'
  | 'kubeconfig'
  | 'jwt'
  | 'database_url'
  | 'auth_header'
  | 'high_entropy'
  | 'raw_log'
  | 'injection'
  | 'vendor_token'
  | 'password';

/** Where something stands in a text: UTF-16 code units, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What a rule's pattern matched, before its check. */
export interface Hit extends Span {
  readonly text: string;
  /** The part that is the secret: `text.slice(start, end)`. */
  readonly secret: string;
  /** Where the pattern began to match, at or before `start`. */
  readonly at: number;
}

/**
 * One kind of thing to find. The engine tries `pattern` only where a hint stands, so the cost of a rule is the number of
 * its hints in the text times a bounded match: a pattern must be sticky and either bounded in length or begin at a boundary
 * that its own repetition cannot cross.
 */
export interface Rule {
  /** Stands in placeholders and findings. Must not contain words that are passwords themselves ("pass"). */
  readonly id: string;
  readonly category: Category;
  /** The vendor's page or public rule set that the format comes from. */
  readonly source: string;
  /** Literals, lower case, ASCII; matched in any case. */
  readonly hints: readonly string[];
  /** How many characters before the hint the pattern begins. */
  readonly back?: number;
  /** The first group that took part is the secret (flag `d`); without groups the whole match is. */
  readonly pattern: RegExp;
  /** Moves the end of the secret, for blocks that end at a marker. */
  readonly extend?: (text: string, span: Span) => number;
  /** The last word: false drops the hit. Must look at a bounded stretch around it only. */
  readonly check?: (hit: Hit) => boolean;
  /** Tried last, and not checked where a rule before it in the table has the place already: its check costs most. */
  readonly general?: boolean;
}

/** A kind of thing that no single place gives away; runs once over a text that its hint accepts. */
export interface TextRule extends Pick<Rule, 'id' | 'category' | 'source'> {
  readonly hint: (text: string) => boolean;
  /** `found`: what is found already, in order and apart; spans inside it may be left out. */
  readonly spans: (text: string, found: readonly Span[]) => readonly Span[];
}

/** Not inside a longer word, but directly after the `\n` of an escaped string is a beginning too. */
export const wordStart = String.raw`(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))`;

/**
 * Rules for tokens that their prefix gives away, one a line: id, prefixes, body, source, with two spaces or more between
 * them. A check may end the line as `${check}`. Backslashes stand for themselves.
 */
export function tokens(category: Category = 'vendor_token') {
  return ({ raw }: TemplateStringsArray, ...checks: NonNullable<Rule['check']>[]): Rule[] =>
    raw.flatMap((part, index) => {
      const lines = part.split('\n').flatMap((line) => line.trim() || []);
      const check = checks[index];
      return lines.map((line, at) => {
        const rule = tokenRule(category, line);
        return check !== undefined && at === lines.length - 1 ? { ...rule, check } : rule;
      });
    });
}

function tokenRule(category: Category, line: string): Rule {
  const [id, prefixes, body, source] = line.split(/ {2,}/) as [string, string, string, string];
  const alternatives = prefixes.replace(/[.~+]/g, String.raw`\$&`).replaceAll(' ', '|');
  return {
    id,
    category,
    source,
    hints: prefixes.toLowerCase().split(' '),
    pattern: new RegExp(`${wordStart}(?:${alternatives})${body}`, 'y'),
  };
}
