import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Json } from '../../src/core/tool-call.ts';
import { filesOfEvidence, toolOfEvidence } from './evidence.ts';
import { readInside } from './read-inside.ts';

/** A scenario's folder, and its base's behind it: what it lacks is taken from there, file by file. */
export interface ScenarioFolders {
  /** `scenario.yml`, over the base's: a field of its own takes the place of the base's whole field. */
  readonly meta: Readonly<Record<string, unknown>>;
  parse<T>(name: string, schema: z.ZodType<T>, value: unknown): T;
  read<T>(name: string, schema: z.ZodType<T>): Promise<T>;
  /** Never the base's: an answer is to one scenario. */
  readOwn<T>(name: string, schema: z.ZodType<T>): Promise<T>;
  evidence(name: string): Promise<Json>;
}

const METRICS = 'aws_cloudwatch_metrics';
const ENVELOPE = `${METRICS}_envelope.json`;
const Fields = z.record(z.string(), z.unknown());
const Document = z.record(z.string(), z.json());
const Base = z
  .string()
  .regex(/^\d{3}[\w.-]*$/, 'must name a scenario of this suite')
  .nullish();

/**
 * Opens scenario `name` of a suite. `used` is told each file that is read: `001-…/alert.json`. Errors name the file.
 *
 * @param root the folder that somebody named, without links: what lies elsewhere is not read, but for the base beside the scenario
 */
export async function openFolders(
  root: string,
  suite: string,
  name: string,
  used: Set<string>,
): Promise<ScenarioFolders> {
  const inside = [root];
  const own = await read(name, 'scenario.yml', Fields);
  const base = check(`${name}/scenario.yml`, Base, own['base']);
  if (base) inside.push(join(await realpath(suite), base));
  const behind = base ? await read(base, 'scenario.yml', Fields) : {};
  if (behind['base']) throw new Error(`${base}/scenario.yml has a base itself; a base must stand alone.`);
  const folders = base ? [name, base] : [name];
  const files = new Map<string, readonly string[]>();
  for (const folder of folders) files.set(folder, await readdir(join(suite, folder)));
  const has = (folder: string, file: string) => files.get(folder)?.includes(file) === true;

  const nearest = async <T>(names: readonly [string, ...string[]], schema: z.ZodType<T>): Promise<T> => {
    for (const folder of folders) {
      const file = names.find((each) => has(folder, each));
      if (file !== undefined) return read(folder, file, schema);
    }
    return read(name, names[0], schema);
  };

  /** Metrics may lie in one file, or in one for each with their common fields in another. */
  async function metrics(names: readonly [string, ...string[]]): Promise<Json> {
    const folder = folders.find((each) => has(each, ENVELOPE) || names.some((file) => has(each, file)));
    if (folder === undefined || names.some((file) => has(folder, file))) return nearest(names, Document);
    const parts = (files.get(folder) ?? [])
      .filter((part) => part.startsWith(`${METRICS}_`) && part.endsWith('.json') && part !== ENVELOPE)
      .toSorted();
    const results: Json[] = [];
    for (const part of parts) results.push(await read(folder, part, Document));
    return { ...(await read(folder, ENVELOPE, Document)), metric_data_results: results };
  }

  return {
    meta: { ...behind, ...own },
    parse: (file, schema, value) => check(`${name}/${file}`, schema, value),
    read: (file, schema) => nearest([file], schema),
    readOwn: (file, schema) => read(name, file, schema),
    evidence: (each) => {
      const names = filesOfEvidence(each);
      return toolOfEvidence(each) === METRICS ? metrics(names) : nearest(names, Document);
    },
  };

  async function read<T>(folder: string, file: string, schema: z.ZodType<T>): Promise<T> {
    const path = join(folder, file);
    const text = await readInside(inside, join(suite, path)).catch((error: unknown) => {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      throw new Error(
        isMissing
          ? `${path} is missing: copy it from the suite.`
          : `${path} cannot be opened (${firstLine(error)}): make it a file that you may read.`,
        { cause: error },
      );
    });
    let value: unknown;
    try {
      value = file.endsWith('.yml') ? parseYaml(text) : JSON.parse(text);
    } catch (error) {
      const form = file.endsWith('.yml') ? 'YAML' : 'JSON';
      throw new Error(
        `${path} is no ${form}: mend it, or copy it from the suite again. ${firstLine(error)}`,
        {
          cause: error,
        },
      );
    }
    used.add(path);
    return check(path, schema, value);
  }
}

/** As the suites' own reader takes it: merge keys count, and of a key that is there twice the last. */
const parseYaml = (text: string): unknown =>
  parse(text, { merge: true, uniqueKeys: false, logLevel: 'error' });

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';

function check<T>(path: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    ({ path: at, message }) => `${at.length === 0 ? '' : `${at.join('.')}: `}${message}`,
  );
  throw new Error(
    `${path} is not of a shape that is converted: compare it with the suite. ${problems.join('; ')}`,
  );
}
