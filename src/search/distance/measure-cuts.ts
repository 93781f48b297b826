import type { Embedder } from '../ports.ts';
import { type CalibrationIncident, calibrationIncidents } from './calibration.ts';
import type { DistanceCuts } from './distance-cuts.ts';

/** What an embedding makes of the calibration set, in cosine distance (0–2). */
export interface MeasuredCuts extends DistanceCuts {
  readonly fingerprint: string;
  readonly dimensions: number;
  /** From an alert to the record of the same fault, elsewhere and at another time. */
  readonly own: Spread;
  /** From an alert to the records of all other faults. */
  readonly strangers: Spread;
}
interface Spread {
  readonly min: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** Beyond 95 % of the recurrences of the set: those that are titled in wholly other words are a rare kind. */
const ROOM = 0.05;

/**
 * Measures how far a past incident may be for an embedding. Among those of the same kind or alert, recurrences are to
 * come through; where neither is known, only what is nearer than any stranger of the set. For the offline embedding this comes to
 * the numbers that recorded incidents gave (`distance-cuts.ts`). @throws OpsError EMBEDDINGS_*
 */
export async function measureCuts(embedder: Embedder): Promise<MeasuredCuts> {
  const { fingerprint } = embedder;
  const documents = calibrationIncidents.map(documentOf);
  const titles = calibrationIncidents.map(({ again }) => again);
  const typed = calibrationIncidents.map(({ type, again }) => `${type.replaceAll('_', ' ')} ${again}`);
  const vectors = await embedder.embed([...documents, ...titles, ...typed], 'later');
  const n = calibrationIncidents.length;
  const distance = (query: number, document: number): number =>
    cosineDistance(vectors[query] ?? [], vectors[document] ?? []);
  const all = calibrationIncidents.map((_, i) => i);
  const own = all.flatMap((i) => [distance(n + i, i), distance(2 * n + i, i)]);
  const strangers = all.flatMap((i) => all.filter((j) => j !== i).map((j) => distance(n + i, j)));
  const [same, other] = [spread(own), spread(strangers)];
  return {
    fingerprint,
    dimensions: vectors[0]?.length ?? 0,
    unnamed: other.min,
    sameKind: Math.max(hundredths(same.p95 + ROOM), other.min),
    own: same,
    strangers: other,
  };
}

/** In the form of `incidentDocument`. */
function documentOf({ type, title, cause, remedy }: CalibrationIncident): string {
  const target = title.split(' ').at(-1) ?? '';
  return [
    `Title: ${title}`,
    `Type: ${type}`,
    `Target: ${target}`,
    'Severity: critical',
    '',
    `Cause: ${cause}`,
    `Remedy: ${remedy}`,
    'It was fixed.',
  ].join('\n');
}

export function cosineDistance(a: readonly number[], b: readonly number[]): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return 1 - dot / (Math.sqrt(aa * bb) || 1);
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => hundredths(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return { min: at(0), p50: at(0.5), p95: at(0.95), max: at(1) };
}

const hundredths = (value: number): number => Math.round(value * 100) / 100;
