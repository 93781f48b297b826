import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { scan } from '../src/safety/screen/scan.ts';
import { findSecrets } from '../src/safety/secrets/find-secrets.ts';
import {
  decode,
  measureQuality,
  type QualityFiles,
  readLines,
  type ScannerQuality,
} from './scanner-quality.ts';

const PACKAGES = ['@secretlint/core', '@secretlint/secretlint-rule-preset-recommend'] as const;

export interface ScannerResult {
  readonly bench: 'scanner';
  readonly texts: number;
  readonly bytes: number;
  /** Secrets alone, which is what secretlint looks for; MB/s over the texts, one call each. */
  readonly secretsMbPerSecond: number;
  /** Secrets, injection and log volume: the whole memory scanner. */
  readonly scanMbPerSecond: number;
  /** One log of 10 MB, secrets alone. */
  readonly longLogMbPerSecond: number;
  /** The same texts in the same run; null when secretlint is not installed. */
  readonly secretlintMbPerSecond: number | null;
  /** secretsMbPerSecond / secretlintMbPerSecond. */
  readonly timesSecretlint: number | null;
  /** The same on the rows of the files given, by file and together; null without files or without secretlint. */
  readonly rows: Readonly<Record<string, RowsResult>> | null;
  readonly quality: ScannerQuality;
  readonly note: string;
}

/** Short texts, by CPU time, best of the rounds; ours many passes a round, since one takes less than a millisecond. */
interface RowsResult {
  readonly texts: number;
  readonly bytes: number;
  readonly secretsMbPerSecond: number;
  readonly scanMbPerSecond: number;
  readonly timesSecretlint: number;
  readonly scanTimesSecretlint: number;
}

interface Secretlint {
  readonly lintSource: (options: object) => Promise<{ readonly messages: readonly unknown[] }>;
  readonly preset: object;
}

/**
 * Scans the same texts with ours and with secretlint's recommended preset, in turns (so that both feel the same machine), and
 * one long log with ours. secretlint is no dependency of ours: it is used when it can be resolved from `from`.
 */
export async function benchScanner(
  files: QualityFiles = {},
  options: { readonly texts?: readonly string[]; readonly from?: string; readonly rounds?: number } = {},
): Promise<ScannerResult> {
  const { texts = makeTexts(300), from = process.cwd(), rounds = 3 } = options;
  const secretlint = await resolveSecretlint(from);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const best = { secrets: Infinity, scan: Infinity, secretlint: Infinity, log: Infinity };
  const log = makeLog(10_000_000);
  // Ours warms up alone: secretlint keeps timings of every call and slows down by them, so it gets few rounds, its best counts.
  for (let round = 0; round < 30; round++) for (const text of texts) findSecrets(text);
  for (let round = 0; round < rounds; round++) {
    best.secrets = Math.min(
      best.secrets,
      await seconds(() => texts.forEach((text) => void findSecrets(text))),
    );
    best.scan = Math.min(
      best.scan,
      await seconds(() => texts.forEach((text) => void scan(text, { scope: 'workspace' }))),
    );
    best.log = Math.min(best.log, await seconds(() => void findSecrets(log)));
    if (secretlint !== null)
      best.secretlint = Math.min(best.secretlint, await seconds(() => lintAll(secretlint, texts)));
  }
  const rate = (time: number, of = bytes) => Math.round(of / 1e4 / time) / 100;
  return {
    bench: 'scanner',
    texts: texts.length,
    bytes,
    secretsMbPerSecond: rate(best.secrets),
    scanMbPerSecond: rate(best.scan),
    longLogMbPerSecond: rate(best.log, log.length),
    secretlintMbPerSecond: secretlint === null ? null : rate(best.secretlint),
    timesSecretlint: secretlint === null ? null : Math.round((best.secretlint / best.secrets) * 10) / 10,
    rows: secretlint === null ? null : await compareRows(secretlint, files),
    quality: measureQuality(files),
    note:
      secretlint === null
        ? `to compare: npm install --no-save ${PACKAGES.join(' ')}`
        : 'best of the rounds, in turns',
  };
}

const ROW_ROUNDS = 3;
const PASSES = 40;

async function compareRows(
  secretlint: Secretlint,
  { positives, negatives }: QualityFiles,
): Promise<Record<string, RowsResult> | null> {
  const textsOf = (file: string | undefined) => readLines(file).map((row) => decode(row['text_b64']));
  const parts: readonly Times[] = [
    await timesOn(secretlint, textsOf(positives)),
    await timesOn(secretlint, textsOf(negatives)),
  ];
  const sum = (of: (times: Times) => number) => parts.reduce((total, times) => total + of(times), 0);
  // Not measured a third time: every call makes secretlint slower.
  const together: Times = {
    texts: sum(({ texts }) => texts),
    bytes: sum(({ bytes }) => bytes),
    secrets: sum(({ secrets }) => secrets),
    scan: sum((times) => times.scan),
    secretlint: sum((times) => times.secretlint),
  };
  const named = Object.entries({ positives: parts[0], negatives: parts[1], together });
  const some = named.flatMap(([name, times]) =>
    times === undefined || times.texts === 0 ? [] : [[name, rowsResult(times)] as const],
  );
  return some.length === 0 ? null : Object.fromEntries(some);
}

/** Best of the rounds, in seconds of CPU time for all texts once. */
interface Times {
  readonly texts: number;
  readonly bytes: number;
  readonly secrets: number;
  readonly scan: number;
  readonly secretlint: number;
}

function rowsResult({ texts, bytes, secrets, scan: whole, secretlint }: Times): RowsResult {
  const tenth = (value: number) => Math.round(value * 10) / 10;
  return {
    texts,
    bytes,
    secretsMbPerSecond: tenth(bytes / 1e6 / secrets),
    scanMbPerSecond: tenth(bytes / 1e6 / whole),
    timesSecretlint: tenth(secretlint / secrets),
    scanTimesSecretlint: tenth(secretlint / whole),
  };
}

async function timesOn(secretlint: Secretlint, texts: readonly string[]): Promise<Times> {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const passes = (each: (text: string) => unknown) => () => {
    for (let pass = 0; pass < PASSES; pass++) for (const text of texts) each(text);
  };
  const secrets = passes(findSecrets);
  const whole = passes((text) => scan(text, { scope: 'workspace' }));
  for (let warm = 0; warm < 3; warm++) {
    secrets();
    whole();
  }
  const best = { secrets: Infinity, scan: Infinity, secretlint: Infinity };
  for (let round = 0; round < ROW_ROUNDS; round++) {
    best.secrets = Math.min(best.secrets, (await cpuSeconds(secrets)) / PASSES);
    best.scan = Math.min(best.scan, (await cpuSeconds(whole)) / PASSES);
    best.secretlint = Math.min(best.secretlint, await cpuSeconds(() => lintAll(secretlint, texts)));
  }
  return { texts: texts.length, bytes, ...best };
}

async function cpuSeconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function seconds(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

async function lintAll({ lintSource, preset }: Secretlint, texts: readonly string[]): Promise<void> {
  const config = { rules: [{ id: PACKAGES[1], rule: preset, rules: [] }] };
  for (const [index, content] of texts.entries())
    await lintSource({
      source: { filePath: `/text-${index}.txt`, content, contentType: 'text', ext: '.txt' },
      options: { config },
    });
}

async function resolveSecretlint(from: string): Promise<Secretlint | null> {
  const { resolve } = createRequire(join(from, 'resolve-here.js'));
  const places: string[] = [];
  for (const name of PACKAGES)
    try {
      places.push(pathToFileURL(resolve(name)).href);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null;
      throw error;
    }
  const [core = '', preset = ''] = places;
  const { lintSource } = (await import(core)) as Pick<Secretlint, 'lintSource'>;
  const { creator } = (await import(preset)) as { readonly creator: object };
  return { lintSource, preset: creator };
}

/** What the scanner meets: log excerpts, manifests, notes, query results; one in ten holds a made-up credential. */
function makeTexts(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const kind = i % 4;
    const body =
      kind === 0
        ? makeLog(1_500, i)
        : kind === 1
          ? `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: shop-${i}\n  labels:\n    app.kubernetes.io/name: shop\nspec:\n  replicas: ${i % 7}\n  template:\n    spec:\n      containers:\n        - name: web\n          image: registry.example.com/shop/web@sha256:${hex(i, 64)}\n          env:\n            - name: DB_HOST\n              value: db-${i}.internal\n`
          : kind === 2
            ? `The connection pool of shop-${i} was exhausted because a migration held a lock on public.orders. Look at pg_stat_activity first, then at the deploy of commit ${hex(i, 40)}. Do not restart the primary before the standby has caught up.`
            : `pid | state | query\n----+-------+------\n${i}7 | idle in transaction | UPDATE orders SET state = 'paid' WHERE id = ${i}\n`;
    return i % 10 === 0 ? `${body}\npostgres://shop:${hex(i, 14)}@db-${i}:5432/shop` : body;
  });
}

function makeLog(bytes: number, seed = 0): string {
  const lines: string[] = [];
  for (let size = 0, i = seed; size < bytes; i++) {
    const line = `2026-03-01T12:${String(i % 60).padStart(2, '0')}:07.123Z INFO [http-${i % 32}] shop.OrderController - GET /api/v1/orders/${i}?page=2 200 ${i % 97}ms trace=${hex(i, 32)} user=u${i} upstream=http://10.2.3.${i % 255}:8080`;
    lines.push(line);
    size += line.length + 1;
  }
  // One flat string: a rope is flattened by the first scan and would be counted there.
  return Buffer.from(lines.join('\n')).toString();
}

function hex(seed: number, length: number): string {
  let state = seed + 1;
  let out = '';
  while (out.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    out += state.toString(16).padStart(8, '0');
  }
  return out.slice(0, length);
}
