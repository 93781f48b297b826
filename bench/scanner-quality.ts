import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { scan } from '../src/safety/screen/scan.ts';
import type { Category } from '../src/safety/secrets/rule.ts';
import { generatedNegatives, generatedPositives, type PositiveRow } from './scanner-rows/rows.ts';

/** Rows of one category that were found, of how many, and how many of those are generated. */
export interface Recall {
  readonly found: number;
  readonly rows: number;
  readonly generated: number;
  readonly recall: number;
}

export interface ScannerQuality {
  readonly recall: Readonly<Record<string, Recall>>;
  readonly overall: Recall;
  /** Share of clean texts that would have been blocked: those of the file marked `hard` and the generated ones. */
  readonly falsePositives: { readonly blocked: number; readonly rows: number; readonly share: number };
}

/** Files of JSON lines: `{category,text_b64,secrets_b64[]}` and `{strict,text_b64}`, texts in Base64. */
export interface QualityFiles {
  readonly positives?: string;
  readonly negatives?: string;
}

/** `scanner --positives F --negatives F` */
export function qualityFiles(args: readonly string[]): QualityFiles {
  const { values } = parseArgs({
    args: [...args],
    options: {
      positives: { type: 'string' },
      negatives: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { json: _, ...files } = values;
  return files;
}

type Positive = Pick<PositiveRow, 'text' | 'secrets'> & {
  readonly category: string;
  readonly generated: boolean;
};

/**
 * How much of what it should find the scanner finds, by category, and what it finds that it should not: over files of one's own
 * and over generated rows for every category (marked so).
 */
export function measureQuality({ positives, negatives }: QualityFiles): ScannerQuality {
  const rows: Positive[] = [
    ...readLines(positives).map((row) => ({
      category: categoryOf(String(row['category'])),
      text: decode(row['text_b64']),
      secrets: (row['secrets_b64'] as unknown[]).map(decode),
      generated: false,
    })),
    ...generatedPositives(),
  ];
  const clean = [
    ...readLines(negatives)
      .filter((row) => row['strict'] === 'hard')
      .map((row) => decode(row['text_b64'])),
    ...generatedNegatives().map(({ text }) => text),
  ];
  const blocked = clean.filter((text) => scan(text, { scope: 'conversation' }).blocked).length;
  const categories = [...new Set(rows.map(({ category }) => category))];
  return {
    recall: Object.fromEntries(
      categories.map((name) => [name, recallOf(rows.filter(({ category }) => category === name))]),
    ),
    overall: recallOf(rows),
    falsePositives: { blocked, rows: clean.length, share: round(blocked / clean.length) },
  };
}

/**
 * Whether no secret of a row is left: each is inside a finding, or for rows of others, whose secrets may have a user's name with
 * them, cut by one. A log volume has none and must be found as what it is.
 */
export function isFound({ category, text, secrets, generated }: Positive): boolean {
  const { findings } = scan(text, { scope: 'conversation' });
  const real = findings.filter((finding) => finding.category !== 'injection');
  if (category === ('raw_log' satisfies Category))
    return real.some((finding) => finding.category === 'raw_log');
  return secrets.every((secret) =>
    placesOf(text, secret).every((start) => {
      const end = start + secret.length;
      return real.some((at) =>
        generated ? at.start <= start && at.end >= end : at.start < end && at.end > start,
      );
    }),
  );
}

function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) places.push(at);
  return places;
}

function recallOf(rows: readonly Positive[]): Recall {
  const found = rows.filter(isFound).length;
  const generated = rows.filter((row) => row.generated).length;
  return { found, rows: rows.length, generated, recall: round(found / rows.length) };
}

/** The categories of the data are finer than the scanner's. */
function categoryOf(name: string): string {
  return finer.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}

const finer: readonly (readonly [RegExp, Category])[] = [
  [/^aws_/, 'aws_key'],
  [/^github_/, 'github_token'],
  [/^kubeconfig/, 'kubeconfig'],
  [/^(?:db_url|url_with)/, 'database_url'],
  [/^generic_high/, 'high_entropy'],
  [/^slack_token$/, 'vendor_token'],
  [/^password/, 'password'],
];

export function readLines(file: string | undefined): Record<string, unknown>[] {
  if (file === undefined) return [];
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

export const decode = (base64: unknown): string => Buffer.from(String(base64), 'base64').toString();

const round = (share: number): number => Math.round(share * 1e4) / 1e4;
