import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadRunbooks, problemLine, validateRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { frontMatter, stepBlock, verifyBlock } from '../../../src/runbooks/schema.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';

const root = new URL('../../../', import.meta.url);
const tools = createRegistry(allTools);
const documentation = readFileSync(new URL('docs/runbooks.md', root), 'utf8');

describe('docs/runbooks.md', () => {
  it('has an example that is valid as it stands', () => {
    const example = /````markdown\n([\s\S]*?)\n````/.exec(documentation)?.[1] ?? '';
    const { runbooks, problems } = validateRunbooks([{ file: 'example.md', source: example }], { tools });
    expect(problems.map(problemLine)).toEqual([]);
    expect(runbooks).toHaveLength(1);
  });

  it('names every field of the format', () => {
    const fields = [frontMatter, stepBlock, verifyBlock].flatMap((schema) => Object.keys(schema.shape));
    expect(fields.filter((field) => !documentation.includes(`\`${field}`))).toEqual([]);
  });
});

describe('the runbooks that ship', () => {
  it('are all valid against the tools that ship', async () => {
    const { runbooks, problems } = await loadRunbooks(fileURLToPath(new URL('runbooks', root)), { tools });
    expect(problems.map(problemLine)).toEqual([]);
    expect(runbooks.filter((runbook) => runbook.domains.includes('postgres')).length).toBeGreaterThanOrEqual(
      10,
    );
  });

  it('never let two of them claim the same name or pattern', async () => {
    const { runbooks } = await loadRunbooks(fileURLToPath(new URL('runbooks', root)));
    const names = runbooks.flatMap((runbook) => runbook.matches.alerts.map((name) => name.toLowerCase()));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
});
