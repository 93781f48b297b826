import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { OpsError } from '../../src/core/errors.ts';
import { whyNot } from '../../src/core/system-fault.ts';
import { Scenario } from '../replay/scenario.ts';
import { toolOfEvidence } from './evidence.ts';
import { liesIn } from './read-inside.ts';
import { openFolders, type ScenarioFolders } from './scenario-folders.ts';
import type { AnswerKey } from './score-answer.ts';

/** One scenario of a suite: the incident as we replay it, and the suite's own key to it. */
export interface SuiteScenario {
  readonly scenario: Scenario;
  readonly key: AnswerKey;
}

/** What a suite's folder holds. What is not converted is named, never dropped. */
export interface Suite {
  readonly scenarios: readonly SuiteScenario[];
  readonly refused: readonly { readonly id: string; readonly why: string }[];
  /** Files of converted scenarios that no scenario names as evidence: `eks/001-…/notes.json`. */
  readonly unread: readonly string[];
}

/** A word may look like a number or a truth to YAML. */
const Word = z
  .union([z.string(), z.number(), z.boolean()])
  .transform((word) => String(word).trim())
  .pipe(z.string().min(1));
/** A list may be left out, or be there and empty. */
const Words = z
  .array(Word)
  .nullish()
  .transform((words) => words ?? []);
/** However it is written: `Resource exhaustion` is `resource_exhaustion`. */
const asCategory = (word: string): string => word.toLowerCase().replace(/[\s-]+/g, '_');
const Category = Word.transform(asCategory);
const Categories = Words.transform((words) => words.map(asCategory));
/** A name that a file and a tool of the Messages API may have. */
const EvidenceName = z.string().regex(/^[\w-]{1,64}$/, 'must be a name of letters, digits, _ and -');
const Meta = z.looseObject({ available_evidence: z.array(EvidenceName).min(1) });
const Alert = z.looseObject({ title: z.string().min(1) }).and(z.record(z.string(), z.json()));
const Key = z.object({
  root_cause_category: Category,
  equivalent_root_cause_categories: Categories,
  required_keywords: Words.pipe(z.array(z.string()).min(1)),
  forbidden_keywords: Words,
  forbidden_categories: Categories,
  required_evidence_sources: Words,
  ruling_out_keywords: Words,
  optimal_trajectory: Words,
  golden_trajectory: z.unknown().optional(),
  max_investigation_loops: z.number().int().min(0).nullish(),
  required_queries: Words,
  model_response: z.string().trim().min(1),
});

/** A folder with one of these is a scenario, whatever it is called. */
const MARKS = ['scenario.yml', 'scenario.yaml', 'scenario.json', 'answer.yml', 'alert.json'];
/** Scenarios lie this deep at most below the folder that is named: `tests/synthetic/eks/001-…` below a clone. */
const MAX_DEPTH = 5;

/** Reads every scenario in a folder: of one suite such as `tests/synthetic/eks`, or of all. Throws OpsError where there is none. */
export async function readSuite(folder: string): Promise<Suite> {
  const root = resolve(folder);
  await readdir(root).catch((error: unknown) => {
    throw new OpsError('NOT_FOUND', `${folder} cannot be read: ${whyNot(error)}.`, {
      hint: 'Name a folder of the suite, such as tests/synthetic/eks.',
      cause: error,
    });
  });
  const real = await realpath(root);
  const refused: { id: string; why: string }[] = [];
  const found = await scenarioFolders(root, MAX_DEPTH, {
    real,
    entered: new Set([real]),
    refuse: (path) =>
      refused.push({
        id: relative(root, path),
        why: 'it is a link out of the suite: put the folder itself in its place.',
      }),
  });
  if (found.length === 0 && refused.length === 0)
    throw new OpsError('NOT_FOUND', `${folder} holds no scenario.`, {
      hint: 'Name the folder in which 000-… and 001-… lie, such as tests/synthetic/eks.',
    });
  const scenarios: SuiteScenario[] = [];
  const [used, there] = [new Set<string>(), new Set<string>()];
  for (const path of found) {
    const [suite, name] = [dirname(path), basename(path)];
    const id = `opensre-${basename(suite)}-${name}`;
    const read = new Set<string>();
    try {
      scenarios.push(await readScenario(id, await openFolders(real, suite, name, read)));
      for (const file of await evidenceFiles(path)) there.add(relative(root, join(path, file)));
    } catch (error) {
      refused.push({ id, why: error instanceof Error ? error.message : String(error) });
    }
    for (const file of read) used.add(relative(root, join(suite, file)));
  }
  return { scenarios, refused, unread: [...there].filter((file) => !used.has(file)) };
}

/** Where scenarios are looked for. */
interface Search {
  /** The folder that was named, without links. */
  readonly real: string;
  /** Real folders that a link has led to: none leads round and round. */
  readonly entered: Set<string>;
  /** For a link out of it. */
  refuse(path: string): void;
}

/** Those in `folder`, by path, itself among them; a scenario holds no other. One that cannot be listed is one that cannot be read. */
async function scenarioFolders(folder: string, depth: number, search: Search): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
  const marked = entries === null || entries.some(({ name }) => MARKS.includes(name));
  if (marked || (/^\d{3}/.test(basename(folder)) && depth < MAX_DEPTH)) return [folder];
  if (depth === 0) return [];
  const found: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (/^\.|^node_modules$/.test(entry.name)) continue;
    if (entry.isDirectory() || (entry.isSymbolicLink() && (await leadsOn(path, search))))
      found.push(...(await scenarioFolders(path, depth - 1, search)));
  }
  return found.toSorted();
}

/** Whether a link leads to a folder of the suite that no other has led to. */
async function leadsOn(path: string, { real, entered, refuse }: Search): Promise<boolean> {
  const to = await realpath(path).catch(() => null);
  if (to === null || !(await stat(to)).isDirectory() || entered.has(to)) return false;
  entered.add(to);
  if (liesIn([real], to)) return true;
  refuse(path);
  return false;
}

async function readScenario(id: string, folders: ScenarioFolders): Promise<SuiteScenario> {
  const meta = folders.parse('scenario.yml', Meta, folders.meta);
  const alert = await folders.read('alert.json', Alert);
  const key = await folders.readOwn('answer.yml', Key);
  const outputs = [];
  for (const name of [...new Set(meta.available_evidence)].toSorted())
    outputs.push({ tool: toolOfEvidence(name), output: JSON.stringify(await folders.evidence(name)) });
  const { root_cause_category: category } = key;
  return {
    scenario: Scenario.parse({
      id,
      title: alert.title,
      incident: alert,
      tool_outputs: outputs,
      expected: {
        root_cause: causeIn(key.model_response),
        category,
        healthy: category === 'healthy',
        keywords: key.required_keywords,
        forbidden_keywords: key.forbidden_keywords,
        forbidden_categories: key.forbidden_categories,
      },
    }),
    key: {
      category,
      equivalents: key.equivalent_root_cause_categories,
      requiredKeywords: key.required_keywords,
      forbiddenKeywords: key.forbidden_keywords,
      forbiddenCategories: key.forbidden_categories,
      requiredSources: key.required_evidence_sources,
      rulingOutKeywords: key.ruling_out_keywords,
      trajectory: key.optimal_trajectory,
      maxRounds: key.max_investigation_loops || 1,
      requiredQueries: key.required_queries,
      recorded: outputs.map(({ tool }) => tool),
      unscored: key.golden_trajectory == null ? [] : ['golden_trajectory'],
    },
  };
}

/** A model answer has parts with headings in capitals; the cause is the first of them. */
function causeIn(response: string): string {
  const [, after = response] = /^\s*ROOT_CAUSE:([\s\S]*)/m.exec(response) ?? [];
  return (after.split(/^\s*[A-Z_]{4,}:/m)[0] ?? after).trim();
}

/** All but what describes the scenario, and what is there for people; also in folders of its own. */
async function evidenceFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((name) => !/^(?:scenario\.yml|answer\.yml|alert\.json)$|(?:^|\/)\.|\.md$/.test(name));
}
