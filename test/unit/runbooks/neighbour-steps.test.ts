import { expect, test } from 'vitest';
import { validateRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { runbooksFor } from '../../../src/runbooks/runbooks-for.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';

const tools = createRegistry(allTools);

/** A runbook of databases that reads the disk of their host. */
const source = ({
  call = 'file_systems',
  neighbour = 'host',
  cause = `The disk of \${neighbour} is full.`,
  requires = 'reach',
} = {}) => `---
id: down
title: It is down
domain: postgres
version: 1
type: down
matches: { alerts: [PostgresDown] }
requires: { step: ${requires}, when: "true", measure: null, bad: present }
---
# It is down

\`\`\`yaml step
id: reach
call: postgres_reachable
\`\`\`

\`\`\`yaml step
id: disk
call: ${call}
neighbour: ${neighbour}
checks:
  - when: result.fullest > 98
    conclude:
      cause: "${cause}"
      confidence: 0.8
\`\`\`
`;
const problemsOf = (given: Parameters<typeof source>[0]) =>
  validateRunbooks([{ file: 'down.md', source: source(given) }], { tools }).problems.map(
    ({ message }) => message,
  );

test('a step that reads a neighbour is good, and its runbook is the target’s own', () => {
  const { runbooks, problems } = validateRunbooks([{ file: 'down.md', source: source() }], { tools });
  expect(problems).toEqual([]);
  expect(runbooksFor(runbooks, 'postgres', tools)).toHaveLength(1);
  // Its first step is none of hosts.
  expect(runbooksFor(runbooks, 'host', tools)).toEqual([]);
});

test.each([
  [{ neighbour: 'postgres' }, '"file_systems" is for host, and not for postgres'],
  [{ call: 'run_diagnostics' }, '"run_diagnostics" may load a system; of a neighbour it is not let through'],
  [{ cause: 'A disk is full.' }, 'it was read of a neighbour: say which by "${neighbour}"'],
  [{ requires: 'disk' }, 'what "requires" asks for is read of the incident’s own target'],
])('with %o it is refused', (given, message) => {
  expect(problemsOf(given)).toContain(message);
});
