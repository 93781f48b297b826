import { expect, test } from 'vitest';
import { checkChangesFrom } from '../../../src/app/changes-from.ts';
import { parseConfigFile } from '../../../src/config/config-file.ts';
import { targetsOf } from '../../../src/config/targets.ts';
import type { ApiToken } from '../../../src/core/api-token.ts';

const tokens: readonly ApiToken[] = [
  { name: 'ci', secret: 'a-secret-of-a-test', scopes: ['changes'] },
  { name: 'grafana', secret: 'a-secret-of-a-test-too', scopes: ['read'] },
];

function check(sources: string): void {
  const entry = (name: string, more: string) =>
    `  - name: ${name}\n    kind: postgres\n    read_url_env: DB\n${more}`;
  const text = `targets:\n${entry('orders', '')}${entry('shop', `    changes_from: ${sources}\n`)}`;
  const file = parseConfigFile(text, 'sentry.yaml');
  checkChangesFrom(() => file, targetsOf(file, { DB: 'postgres://u@127.0.0.1/shop' }), tokens);
}

test.each(['[]', '[argo-cd, github, generic]', '["api:ci"]'])('%s names who tells of changes', (sources) => {
  expect(() => check(sources)).not.toThrow();
});

test.each([
  ['[github, argocd]', '"argocd"; did you mean "argo-cd"?'],
  ['["api:cd"]', '"api:cd"; did you mean "api:ci"?'],
  ['["api:grafana"]', '"api:grafana"; docs/changes.md lists those that there are'],
  ['[alertmanager]', '"alertmanager"; docs/changes.md lists those that there are'],
  ['[spinnaker]', '"spinnaker"; docs/changes.md lists those that there are'],
])('%s is a fault with its line, and with what was meant', (sources, says) => {
  expect(() => check(sources)).toThrow(
    `sentry.yaml:8: target "shop": changes_from: nobody tells of changes as ${says}`,
  );
});
