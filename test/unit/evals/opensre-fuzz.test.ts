import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { readSuite } from '../../../evals/opensre/read-suite.ts';
import { SYNTHETIC, writeFiles } from '../../support/opensre/fixtures.ts';

const files = Object.keys(SYNTHETIC).filter((file) => /\.(?:json|yml)$/.test(file));

/** What people, editors and half a download make of a file. */
const spoilt = (text: string) =>
  fc.oneof(
    fc.constantFrom(
      '',
      '{',
      '[]',
      'null',
      '7',
      ': :\n\t-',
      '&a [*a]',
      '\0',
      '{"a":NaN}',
      '\uFEFF{}',
      '<<: 3\n',
    ),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.json({ maxDepth: 3 }),
    fc.nat(text.length).map((at) => text.slice(0, at)),
    fc
      .tuple(fc.nat(text.length), fc.constantFrom('"', '\n', '- ', '#', '  ', ',', ':', '😀'))
      .map(([at, piece]) => `${text.slice(0, at)}${piece}${text.slice(at)}`),
  );

it('converts or names every scenario, whatever one of its files holds, and takes nothing else with it', async () => {
  const whole = await readSuite(writeFiles(SYNTHETIC));
  const ids = (suite: typeof whole) =>
    [...suite.scenarios.map(({ scenario }) => scenario.id), ...suite.refused.map(({ id }) => id)].toSorted();
  const folder = writeFiles(SYNTHETIC);
  const textOf = (file: string): string => {
    const content = SYNTHETIC[file];
    return typeof content === 'string' ? content : JSON.stringify(content);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files).chain((file) => spoilt(textOf(file)).map((text) => ({ file, text }))),
      async ({ file, text }) => {
        writeFileSync(join(folder, file), text);
        const suite = await readSuite(folder);
        writeFileSync(join(folder, file), textOf(file));
        expect(ids(suite)).toEqual(ids(whole));
        for (const { id, why } of suite.refused) {
          // The file is named, on one line, with what to do.
          expect(why, id).toMatch(/^[\w.-]+\/[\w.-]+ (?:is|cannot|has) /);
          expect(why, id).toMatch(/copy it|mend it|compare it|must stand alone/);
        }
        // A scenario that neither is spoilt nor builds on what is, is as it was.
        const [group = '', name = ''] = file.split('/');
        const touched = (id: string) => id === `opensre-${group}-${name}` || name === '000-healthy';
        for (const one of whole.scenarios.filter(({ scenario }) => !touched(scenario.id)))
          expect(suite.scenarios).toContainEqual(one);
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

it('makes every file that a scenario names an output, whole', async () => {
  const { scenarios } = await readSuite(writeFiles(SYNTHETIC));
  for (const { scenario } of scenarios) {
    expect(scenario.tool_outputs.length, scenario.id).toBeGreaterThan(0);
    for (const { tool, output, status } of scenario.tool_outputs) {
      expect(status).toBe('success');
      expect(Object.keys(JSON.parse(output) as object), `${scenario.id} ${tool}`).not.toEqual([]);
    }
  }
  const tenant = scenarios.find(({ scenario }) => scenario.id.endsWith('one-tenant'));
  const outputs = new Map(tenant?.scenario.tool_outputs.map(({ tool, output }) => [tool, parse(output)]));
  expect(outputs.get('aws_cloudwatch_metrics')).toEqual({
    ...(SYNTHETIC['rds_postgres/004-one-tenant/aws_cloudwatch_metrics_envelope.json'] as object),
    metric_data_results: [
      SYNTHETIC['rds_postgres/004-one-tenant/aws_cloudwatch_metrics_CPUUtilization.json'],
      SYNTHETIC['rds_postgres/004-one-tenant/aws_cloudwatch_metrics_RequestCountMaple.json'],
    ],
  });
  expect(outputs.get('ec2_instances_by_tag')).toEqual(
    SYNTHETIC['rds_postgres/004-one-tenant/ec2_instances_by_tag.json'],
  );
  expect(tenant?.key).toMatchObject({
    equivalents: ['tenant_noisy_neighbor'],
    requiredKeywords: ['tenant', 'maple', '91', '91'],
    unscored: ['golden_trajectory'],
  });
});
