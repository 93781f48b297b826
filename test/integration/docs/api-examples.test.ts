import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiScene, apiScene, tokens } from '../http/api-scene.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/api.md'), 'utf8');
const [, examples = ''] = /<!-- The tests run this block\. -->\n```sh\n([\s\S]*?)```/.exec(page) ?? [];

let scene: ApiScene;
beforeAll(async () => {
  scene = await apiScene();
});
afterAll(() => scene.close());

test('the examples of docs/api.md do what stands beside them, also when they are run twice', async () => {
  const { url } = await scene.serve();
  const env = { PATH: process.env['PATH'], SENTRY_URL: url, TOKEN: tokens.other };
  const run = () => promisify(execFile)('bash', ['-euo', 'pipefail', '-c', examples], { env });
  const first = (await run()).stdout;
  const said = [
    /"mode":"ACTIVE"/,
    /"opened":true/,
    /"complete":true/,
    /"timeline":/,
    /\*INC-\d+: Checkout is slow/,
  ];
  for (const text of said) expect(first).toMatch(text);
  expect((await run()).stdout).toMatch(/"opened":false/);
  expect(await scene.sql`SELECT FROM incident WHERE title LIKE 'Checkout%'`).toHaveLength(1);
});
