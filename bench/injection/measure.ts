import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { BY_MODEL, findInjection } from '../../src/safety/injection/find-injection.ts';
import { encodeModel } from '../../src/safety/injection/model.ts';
import { learn, type Sample, sampleOf, scoreOf } from './learn.ts';
import { isOperations, ownRows, type Row, readRows } from './rows.ts';

/** The share of hard operations texts of unseen sources that the model alone may take for orders. */
const ACCEPTED = 0.0042;
/** A source with so many hard positives is left out by itself. */
const MIN_SOURCE = 25;

interface Shares {
  readonly rules: number;
  readonly model: number;
  readonly union: number;
}

export interface InjectionResult {
  readonly bench: 'injection';
  readonly rows: number;
  /** Hard positives found, each by a model that has seen nothing of their source; `mean` is over sources. */
  readonly recall: Shares & { readonly mean: Shares };
  readonly bySource: Readonly<Record<string, Shares & { readonly rows: number }>>;
  /** Hard negatives taken for orders, by such a model. */
  readonly falsePositives: Readonly<Record<'operations' | 'tricky' | 'aboutAttacks', Shares>>;
  /** `findInjection` as it ships, on the rows given by `--dev`. */
  readonly dev: Readonly<Record<string, number>> | null;
  readonly mbPerSecond: number;
}

/** `injection --rows DIR [--dev DIR] [--write]`: what rules, model and both find of sources left out of training; writes the weights. */
export function benchInjection(args: readonly string[]): InjectionResult {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string' },
      dev: { type: 'string' },
      write: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.rows === undefined) throw new Error('injection: --rows DIR is missing');
  const rows = readRows(values.rows, 'train');
  const own = ownRows(rows).map(sampleOf);
  const samples = rows.map(sampleOf);
  const scores = scoresUnseen(samples, own);
  const threshold = thresholdFor(samples, scores);
  if (values.write !== undefined) {
    const { weights, bias } = learn([...samples, ...own]);
    writeFileSync(values.write, encodeModel({ weights, bias: bias - threshold }));
  }
  return {
    ...judge(samples, scores, threshold),
    dev: values.dev === undefined ? null : onDev(readRows(values.dev, 'dev')),
    mbPerSecond: speed(samples),
  };
}

/** Each sample's score by a model that has learnt from other sources alone. */
function scoresUnseen(samples: readonly Sample[], own: readonly Sample[]): Float64Array {
  const part = partsOf(samples.map(({ row }) => row));
  const scores = new Float64Array(samples.length);
  for (const left of new Set(part.values())) {
    const model = learn([...samples.filter(({ row }) => part.get(row.group) !== left), ...own]);
    for (const [index, sample] of samples.entries())
      if (part.get(sample.row.group) === left) scores[index] = scoreOf(sample, model);
  }
  return scores;
}

/** A part for each large source of positives; the others go where the fewest rows are. */
function partsOf(rows: readonly Row[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { group } of rows) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const large = sourcesOf(rows);
  const parts = new Map(large.map((group, index) => [group, index]));
  const load = large.map((group) => sizes.get(group) as number);
  for (const [group, size] of [...sizes].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))) {
    if (parts.has(group)) continue;
    const least = load.indexOf(Math.min(...load));
    parts.set(group, least);
    load[least] = (load[least] as number) + size;
  }
  return parts;
}

function sourcesOf(rows: readonly Row[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { positive, hard, group } of rows)
    if (positive && hard) counts.set(group, (counts.get(group) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= MIN_SOURCE).map(([group]) => group);
}

function thresholdFor(samples: readonly Sample[], scores: Float64Array): number {
  const negatives = scores.filter((_, index) => {
    const { row } = samples[index] as Sample;
    return !row.positive && row.hard && isOperations(row);
  });
  return negatives.toSorted((a, b) => b - a)[Math.floor(negatives.length * ACCEPTED)] as number;
}

function judge(samples: readonly Sample[], scores: Float64Array, threshold: number) {
  const judged = samples.map(({ row }, index) => ({
    ...row,
    rules: findInjection(row.text).some(({ rule }) => rule !== BY_MODEL),
    model: (scores[index] as number) > threshold,
  }));
  const share = (rows: typeof judged): Shares => {
    const of = (found: (row: (typeof judged)[number]) => boolean) =>
      round(rows.filter(found).length / rows.length);
    return {
      rules: of((row) => row.rules),
      model: of((row) => row.model),
      union: of((row) => row.rules || row.model),
    };
  };
  const positives = judged.filter(({ positive, hard }) => positive && hard);
  const negatives = judged.filter(({ positive, hard }) => !positive && hard);
  const bySource = Object.fromEntries(
    sourcesOf(judged).map((source) => {
      const rows = positives.filter(({ group }) => group === source);
      return [source, { ...share(rows), rows: rows.length }];
    }),
  );
  const mean = (of: keyof Shares) => {
    const all = Object.values(bySource);
    return round(all.reduce((sum, shares) => sum + shares[of], 0) / all.length);
  };
  return {
    bench: 'injection' as const,
    rows: samples.length,
    recall: {
      ...share(positives),
      mean: { rules: mean('rules'), model: mean('model'), union: mean('union') },
    },
    bySource,
    falsePositives: {
      operations: share(negatives.filter(isOperations)),
      tricky: share(negatives.filter((row) => isOperations(row) && row.tricky)),
      aboutAttacks: share(negatives.filter((row) => !isOperations(row))),
    },
  };
}

function onDev(rows: readonly Row[]): Record<string, number> {
  const share = (some: readonly Row[]) =>
    round(some.filter(({ text }) => findInjection(text).length > 0).length / some.length);
  return {
    hard: share(rows.filter(({ positive, hard }) => positive && hard)),
    soft: share(rows.filter(({ positive, hard }) => positive && !hard)),
    falsePositives: share(rows.filter(({ positive }) => !positive)),
    tricky: share(rows.filter(({ positive, tricky }) => !positive && tricky)),
  };
}

/** Of the operations texts, one call each, by CPU time. */
function speed(samples: readonly Sample[]): number {
  const texts = samples.filter(({ row }) => !row.positive && isOperations(row)).map(({ row }) => row.text);
  const before = process.cpuUsage();
  for (const text of texts) findInjection(text);
  const { user, system } = process.cpuUsage(before);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return Math.round((bytes / (user + system)) * 10) / 10;
}

const round = (share: number): number => Math.round(share * 1e4) / 1e4;
