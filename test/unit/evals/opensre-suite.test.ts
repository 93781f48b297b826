import { mkdirSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { MAX_FILE_BYTES } from '../../../evals/opensre/read-inside.ts';
import { readSuite } from '../../../evals/opensre/read-suite.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const answer = 'root_cause_category: healthy\nrequired_keywords: [pod]\nmodel_response: ok\n';
const alert = '{"title":"Pods fail","commonLabels":{}}';

function suiteOf(files: Readonly<Record<string, string>>): string {
  const dir = scratchDir();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  return dir;
}

it('converts a scenario, and names the one it cannot convert with the file to mend', async () => {
  const scenario = (name: string) => ({
    [`${name}/scenario.yml`]: 'available_evidence: [eks_pods]',
    [`${name}/alert.json`]: alert,
    [`${name}/answer.yml`]: `${answer}forbidden_keywords:\n`,
  });
  const suite = await readSuite(
    suiteOf({
      ...scenario('001-whole'),
      '001-whole/eks_pods.json': '{"pods":[]}',
      ...scenario('002-lacks'),
      ...scenario('003-no-json'),
      '003-no-json/eks_pods.json': '{',
      ...scenario('004-no-answer'),
      '004-no-answer/eks_pods.json': '{}',
      '004-no-answer/answer.yml': 'required_keywords: 7',
      'shared/baseline.json': '{}',
      '_baseline/eks_pods.json': '{}',
    }),
  );
  expect(suite.scenarios).toMatchObject([
    {
      scenario: { tool_outputs: [{ tool: 'eks_pods', status: 'success', output: '{"pods":[]}' }] },
      key: { category: 'healthy', requiredKeywords: ['pod'], forbiddenKeywords: [] },
    },
  ]);
  expect(suite.refused.map(({ why }) => why.split(' ')[0])).toEqual([
    '002-lacks/eks_pods.json',
    '003-no-json/eks_pods.json',
    '004-no-answer/answer.yml',
  ]);
  expect(suite.unread).toEqual([]);
});

it('takes from the base what a scenario lacks, but never its answer', async () => {
  const base = {
    '000-healthy/scenario.yml': 'severity: info\navailable_evidence: [eks_pods, eks_events]',
    '000-healthy/alert.json': alert,
    '000-healthy/answer.yml': answer,
    '000-healthy/eks_pods.json': '{"pods":["well"]}',
    '000-healthy/eks_events.json': '{"events":[]}',
  };
  const suite = await readSuite(
    suiteOf({
      ...base,
      '001-ill/scenario.yml': 'base: 000-healthy',
      '001-ill/answer.yml': answer,
      '001-ill/eks_pods.json': '{"pods":["ill"]}',
      '002-no-answer/scenario.yml': 'base: 000-healthy',
      '003-chained/scenario.yml': 'base: 001-ill',
      '004-outside/scenario.yml': 'base: ../000-healthy',
    }),
  );
  expect(suite.scenarios.map(({ scenario }) => scenario.tool_outputs.map(({ output }) => output))).toEqual([
    ['{"events":[]}', '{"pods":["well"]}'],
    ['{"events":[]}', '{"pods":["ill"]}'],
  ]);
  expect(suite.refused.map(({ why }) => why.split(' ')[0])).toEqual([
    '002-no-answer/answer.yml',
    '001-ill/scenario.yml',
    '004-outside/scenario.yml',
  ]);
});

it('puts split metrics together by file name, reads the older names, and takes the cause alone', async () => {
  const suite = await readSuite(
    suiteOf({
      '001-split/scenario.yml': 'available_evidence: [aws_cloudwatch_metrics]',
      '001-split/alert.json': alert,
      '001-split/answer.yml':
        'root_cause_category: resource_exhaustion\nrequired_keywords: [wal]\nmodel_response: |\n  ROOT_CAUSE: The slot holds WAL.\n  ROOT_CAUSE_CATEGORY: resource_exhaustion\n  VALIDATED_CLAIMS:\n  - More.\n',
      '001-split/aws_cloudwatch_metrics_envelope.json': '{"period":60}',
      '001-split/aws_cloudwatch_metrics_B.json': '{"metric_name":"B"}',
      '001-split/aws_cloudwatch_metrics_A.json': '{"metric_name":"A"}',
      '002-older/scenario.yml': 'available_evidence: [rds_metrics]',
      '002-older/alert.json': alert,
      '002-older/answer.yml': `${answer}required_evidence_sources: [rds_metrics]\n`,
      '002-older/cloudwatch_metrics.json': '{"period":30}',
      '002-older/rds_events.json': '{"events":[]}',
      '002-older/QA_VALIDATION.md': 'seen',
    }),
  );
  expect(suite.refused).toEqual([]);
  expect(suite.scenarios.map(({ scenario }) => scenario.tool_outputs)).toMatchObject([
    [
      {
        tool: 'aws_cloudwatch_metrics',
        output: '{"period":60,"metric_data_results":[{"metric_name":"A"},{"metric_name":"B"}]}',
      },
    ],
    [{ tool: 'aws_cloudwatch_metrics', output: '{"period":30}' }],
  ]);
  expect(suite.scenarios[0]?.scenario.expected.root_cause).toBe('The slot holds WAL.');
  expect(suite.scenarios[1]?.key.recorded).toEqual(['aws_cloudwatch_metrics']);
  expect(suite.unread).toEqual(['002-older/rds_events.json']);
});

it('says what to name where there is no suite', async () => {
  await expect(readSuite(scratchDir())).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(readSuite(join(scratchDir(), 'nowhere'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

const whole = (name: string) => ({
  [`${name}/scenario.yml`]: 'available_evidence: [eks_pods]',
  [`${name}/alert.json`]: alert,
  [`${name}/answer.yml`]: answer,
  [`${name}/eks_pods.json`]: '{"pods":[]}',
});

it('finds suites below a folder, by a link as well, and a scenario that is named itself', async () => {
  const dir = suiteOf({
    ...whole('synthetic/eks/001-a'),
    ...whole('synthetic/other/odd-name'),
    'synthetic/x.py': '',
  });
  symlinkSync(join(dir, 'synthetic', 'eks'), join(dir, 'synthetic', 'linked'));
  const ids = async (folder: string) =>
    (await readSuite(join(dir, folder))).scenarios.map(({ scenario }) => scenario.id);
  expect(await ids('.')).toEqual(['opensre-eks-001-a', 'opensre-linked-001-a', 'opensre-other-odd-name']);
  expect(await ids('synthetic/eks/')).toEqual(['opensre-eks-001-a']);
  expect(await ids('synthetic/eks/001-a')).toEqual(['opensre-eks-001-a']);
});

it('names files that no scenario names, also in folders of their own, and not what is there for people', async () => {
  const { unread } = await readSuite(
    suiteOf({
      ...whole('001-a'),
      '001-a/more/logs.json': '{}',
      '001-a/errors.log': '',
      '001-a/README.md': '',
      '001-a/.x': '',
    }),
  );
  expect(unread.toSorted()).toEqual(['001-a/errors.log', '001-a/more/logs.json']);
});

it.each([
  [
    'a file that is missing',
    'eks_pods.json',
    null,
    '001-a/eks_pods.json is missing: copy it from the suite.',
  ],
  [
    'bad YAML',
    'answer.yml',
    'a: [',
    '001-a/answer.yml is no YAML: mend it, or copy it from the suite again.',
  ],
  ['bad JSON', 'alert.json', '{', '001-a/alert.json is no JSON: mend it, or copy it from the suite again.'],
  ['no list', 'scenario.yml', 'available_evidence: 7', 'available_evidence: '],
  ['no evidence', 'scenario.yml', 'available_evidence: []', 'available_evidence: '],
  ['a way out of its folder', 'scenario.yml', 'available_evidence: [../x]', 'must be a name of letters'],
  ['a base that is missing', 'scenario.yml', 'base: 000-gone', '000-gone/scenario.yml is missing'],
  ['no YAML fields', 'answer.yml', 'just a text', '001-a/answer.yml is not of a shape that is converted'],
])('says of %s which file it is and what to do', async (_, file, text, says) => {
  const { [`001-a/${file}`]: _spoilt, ...rest } = whole('001-a');
  const suite = await readSuite(
    suiteOf({ ...rest, ...(text === null ? {} : { [`001-a/${file}`]: text }), ...whole('002-b') }),
  );
  expect(suite.refused).toEqual([
    { id: expect.stringMatching(/-001-a$/), why: expect.stringContaining(says) },
  ]);
  expect(suite.scenarios).toHaveLength(1);
});

it('reads YAML as the suites do: merge keys, keys that are there twice, and words that look like something else', async () => {
  const yaml =
    'x: &x { root_cause_category: healthy }\n<<: *x\nrequired_keywords: [no, 91, true, 1e3]\nmodel_response: a\nmodel_response: b\n';
  const { scenarios, refused } = await readSuite(suiteOf({ ...whole('001-a'), '001-a/answer.yml': yaml }));
  expect(refused).toEqual([]);
  expect(scenarios[0]).toMatchObject({
    key: { category: 'healthy', requiredKeywords: ['no', '91', 'true', '1000'] },
    scenario: { expected: { root_cause: 'b' } },
  });
});

/** In the place of a file of the suite. */
const PLANTED: readonly (readonly [what: string, plant: (path: string) => void, says: string])[] = [
  ['a link to a file of this machine', (path) => symlinkSync(secretFile(), path), 'a link out of the suite'],
  [
    'a link over a link',
    (path) => {
      symlinkSync(secretFile(), `${path}.hop`);
      symlinkSync(`${path}.hop`, path);
    },
    'a link out of the suite',
  ],
  ['a link to a device', (path) => symlinkSync('/dev/zero', path), 'a link out of the suite'],
  ['a folder', (path) => mkdirSync(path), 'it is no file'],
  [
    'a file without an end to speak of',
    (path) => {
      writeFileSync(path, '{}');
      truncateSync(path, MAX_FILE_BYTES + 1);
    },
    'larger than 8 MB',
  ],
];
const SECRET = 'of this machine alone';
function secretFile(): string {
  const path = join(scratchDir(), 'secret.json');
  writeFileSync(path, JSON.stringify({ title: SECRET, base: SECRET, model_response: SECRET }));
  return path;
}

it.each(
  PLANTED.flatMap(([what, plant, why]) =>
    ['scenario.yml', 'alert.json', 'answer.yml', 'eks_pods.json'].map(
      (file) => [what, file, plant, why] as const,
    ),
  ),
)('names %s in the place of %s, and reads it not', async (_, file, plant, why) => {
  const { [`001-a/${file}`]: _spoilt, ...rest } = whole('001-a');
  const dir = suiteOf({ ...rest, ...whole('002-b') });
  plant(join(dir, '001-a', file));
  const suite = await readSuite(dir);
  expect(suite.refused).toEqual([
    { id: expect.stringMatching(/-001-a$/), why: expect.stringContaining(why) },
  ]);
  expect(suite.refused[0]?.why).toContain(`001-a/${file} cannot be opened`);
  expect(suite.scenarios).toHaveLength(1);
  expect(JSON.stringify(suite)).not.toContain(SECRET);
});

it('names a scenario, a base and a suite that are links out of it, and follows those within it', async () => {
  const away = suiteOf({ ...whole('000-base'), ...whole('001-a'), ...whole('suite/003-c') });
  const dir = suiteOf({
    'eks/002-b/scenario.yml': 'base: 000-base',
    'eks/002-b/answer.yml': answer,
    ...whole('eks/004-d'),
  });
  symlinkSync(join(away, '000-base'), join(dir, 'eks', '000-base'));
  symlinkSync(join(away, '001-a'), join(dir, 'eks', '001-a'));
  symlinkSync(join(away, 'suite'), join(dir, 'suite'));
  renameSync(join(dir, 'eks', '004-d', 'eks_pods.json'), join(dir, 'pods.json'));
  symlinkSync('../../pods.json', join(dir, 'eks', '004-d', 'eks_pods.json'));
  const { scenarios, refused } = await readSuite(dir);
  expect(scenarios.map(({ scenario }) => scenario.id)).toEqual(['opensre-eks-004-d']);
  expect(refused.map(({ id, why }) => `${id}: ${why}`).toSorted()).toEqual([
    expect.stringMatching(/^eks\/000-base: it is a link out of the suite/),
    expect.stringMatching(/^eks\/001-a: it is a link out of the suite/),
    expect.stringMatching(/^opensre-eks-002-b: 000-base\/scenario.yml cannot be opened/),
    expect.stringMatching(/^suite: it is a link out of the suite/),
  ]);
});

it('reads a base beside the one scenario that is named, unless that is a link out of the suite', async () => {
  const own = { '001-ill/scenario.yml': 'base: 000-well', '001-ill/answer.yml': answer };
  const dir = suiteOf({ ...whole('000-well'), ...own });
  expect(await readSuite(join(dir, '001-ill'))).toMatchObject({ scenarios: [{}], refused: [] });
  const linked = suiteOf(own);
  symlinkSync(join(dir, '000-well'), join(linked, '000-well'));
  expect(await readSuite(join(linked, '001-ill'))).toMatchObject({ scenarios: [], refused: [{}] });
});

it('does not go round by links', async () => {
  const dir = suiteOf({ ...whole('one/eks/001-a'), 'other/x': '' });
  symlinkSync(dir, join(dir, 'one', 'up'));
  symlinkSync(join(dir, 'other'), join(dir, 'one', 'there'));
  symlinkSync(join(dir, 'one'), join(dir, 'other', 'back'));
  const { scenarios, refused } = await readSuite(dir);
  // By its place, and by the one link that leads to it.
  expect(scenarios).toHaveLength(2);
  expect(refused).toEqual([]);
});

it('reads a category however it is written', async () => {
  const yaml =
    'root_cause_category: Healthy\nequivalent_root_cause_categories: [No-Fault]\nforbidden_categories: [Resource exhaustion]\nrequired_keywords: [pod]\nmodel_response: ok\n';
  const { scenarios } = await readSuite(suiteOf({ ...whole('001-a'), '001-a/answer.yml': yaml }));
  expect(scenarios[0]).toMatchObject({
    key: { category: 'healthy', equivalents: ['no_fault'], forbiddenCategories: ['resource_exhaustion'] },
    scenario: { expected: { healthy: true } },
  });
});
