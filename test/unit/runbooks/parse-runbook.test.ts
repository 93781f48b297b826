import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { measureAt } from '../../../src/core/measure.ts';
import { problemLine, validateRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import { parseRunbook } from '../../../src/runbooks/parse-runbook.ts';

const GOOD = `---
id: full-queue
title: Full queue
domain: postgres
version: 1
type: full_queue
matches:
  alerts: [QueueFull, "Queue*Backlog"]
  text: [queue is full]
  labels: { source_type: database }
requires: { step: queue, when: 1 <= result.jobs, bad: high }
---
# Full queue

Somebody has to empty it.

## 1. Count the jobs

\`\`\`yaml step
id: queue
call: queue_depth
with: { name: "\${incident.target}" }
checks:
  - when: result.jobs == 0
    healthy: The queue is empty.
  - when: result.jobs > 100
    let: { worst: "top(result.owners, 'jobs')" }
    claim:
      says: "\${worst.owner} has \${worst.jobs} jobs"
      quote: "\${worst.owner}"
    conclude:
      cause: "\${worst.owner} fills the queue"
      confidence: 0.95
      propose:
        tool: queue_purge
        with: { owner: "\${worst.owner}" }
        why: It empties the queue.
        verify: emptied
\`\`\`

## Afterwards

\`\`\`sql
SELECT 1;
\`\`\`

\`\`\`yaml verify
name: emptied
for: 10s
timeout: 2m
checks:
  - call: queue_depth
    measure: jobs
    bound: 3
    says: At most three jobs wait.
  - call: queue_depth
    holds: "!result.owners.exists(o, o.owner == \${worst.owner})"
    says: The queue of \${worst.owner} is empty.
\`\`\`
`;

const tools = {
  get: (name: string) =>
    ({
      queue_depth: {
        kind: 'read' as const,
        input: z.strictObject({ name: z.string().optional() }),
        measures: [
          measureAt('jobs', {
            name: 'jobs',
            label: 'jobs',
            unit: 'jobs',
            healthy: 'at_most',
            bound: 0,
          } as const),
          measureAt('total', {
            name: 'total',
            label: 'jobs so far',
            unit: 'jobs',
            healthy: 'at_most',
            bound: Number.POSITIVE_INFINITY,
          } as const),
        ],
      },
      queue_purge: {
        kind: 'active' as const,
        input: z.strictObject({ owner: z.string(), keep: z.number().optional() }),
        repairsOnly: true as const,
      },
      queue_limit: { kind: 'active' as const, input: z.strictObject({ jobs: z.number() }) },
    })[name],
};

const lineOf = (source: string, text: string) =>
  source.split('\n').findIndex((line) => line.includes(text)) + 1;

function problemsOf(source: string) {
  return validateRunbooks([{ file: 'a.md', source }], { tools }).problems;
}

describe('a good runbook', () => {
  it('is read whole', () => {
    const outcome = parseRunbook('a.md', GOOD);
    if (!outcome.ok) throw new Error(outcome.problems.map(problemLine).join('\n'));
    const { runbook } = outcome.parsed;
    expect(runbook).toMatchObject({
      id: 'full-queue',
      type: 'full_queue',
      domains: ['postgres'],
      version: 1,
    });
    expect(runbook.steps).toHaveLength(1);
    expect(runbook.steps[0]).toMatchObject({ id: 'queue', why: 'Count the jobs', optional: false });
    expect(runbook.steps[0]?.checks[1]?.claims[0]?.from).toBe('queue');
    expect(runbook.verify['emptied']).toMatchObject({ holdMs: 10_000, timeoutMs: 120_000 });
  });

  it('has no problem with the tools it names', () => {
    expect(problemsOf(GOOD)).toEqual([]);
  });
});

/** The same, with a plan of two steps in place of its one act. */
const PLAN = GOOD.replace(
  `        tool: queue_purge
        with: { owner: "\${worst.owner}" }
        why: It empties the queue.
        verify: emptied
`,
  `        steps:
          - tool: queue_purge
            with: { owner: "\${worst.owner}" }
            why: It empties the queue.
          - tool: queue_purge
            with: { owner: nobody, keep: 3 }
            why: It empties what nobody owns.
        verify: emptied
`,
);

describe('a plan of several steps', () => {
  it('is read in the order of its steps', () => {
    const outcome = parseRunbook('a.md', PLAN);
    if (!outcome.ok) throw new Error(outcome.problems.map(problemLine).join('\n'));
    const turn = outcome.parsed.runbook.steps[0]?.checks[1]?.turn;
    expect(turn?.kind === 'conclude' && turn.conclusion.propose).toEqual([
      {
        steps: [
          { tool: 'queue_purge', with: { owner: '${worst.owner}' }, why: 'It empties the queue.' },
          {
            tool: 'queue_purge',
            with: { owner: 'nobody', keep: 3 },
            why: 'It empties what nobody owns.',
          },
        ],
        verify: 'emptied',
        when: undefined,
      },
    ]);
    expect(problemsOf(PLAN)).toEqual([]);
  });

  const six = Array.from({ length: 6 }, () => ({ tool: 'queue_purge', with: { owner: 'x' }, why: 'One.' }));
  it.each([
    [
      'one step only',
      PLAN.replace(/ {10}- tool: queue_purge\n.*keep: 3 }\n.*\n/, ''),
      'steps:',
      /at least two/,
    ],
    [
      'more than five',
      PLAN.replace(/steps:\n[^]*?( {8}verify: emptied)/, `steps: ${JSON.stringify(six)}\n$1`),
      'steps:',
      /at most 5 steps/,
    ],
    [
      'nothing that tells whether it helped',
      PLAN.replace('        verify: emptied\n', ''),
      'steps:',
      /whether it helped/,
    ],
    [
      'a tool beside its steps',
      PLAN.replace('        steps:\n', '        tool: queue_purge\n        steps:\n'),
      '        tool: queue_purge',
      /stand in its "steps"/,
    ],
    [
      'a reason beside its steps',
      PLAN.replace('        steps:\n', '        why: Both.\n        steps:\n'),
      'why: Both',
      /says why it is there/,
    ],
    [
      'a step that only reads',
      PLAN.replace(
        '- tool: queue_purge\n            with: { owner: nobody, keep: 3 }',
        '- tool: queue_depth\n            with: {}',
      ),
      '- tool: queue_depth',
      /needs a tool that acts/,
    ],
    ['a step that takes no such input', PLAN.replace('keep: 3', 'kept: 3'), 'kept: 3', /no input "kept"/],
    [
      'a step with an unknown name',
      PLAN.replace('owner: nobody', 'owner: "${nobody}"'),
      'nobody',
      /Unknown variable: nobody/,
    ],
    [
      'a repair whose success nothing would show',
      PLAN.replace('measure: jobs\n    bound: 3', 'holds: result.jobs < 3'),
      'verify: emptied',
      /reads no "measure"/,
    ],
  ])('is refused with %s', (_name, source, where, message) => {
    expect(source).not.toBe(PLAN);
    const problems = problemsOf(source);
    expect(problems.map(problemLine).join('\n')).toMatch(message);
    expect(problems.find((problem) => message.test(problem.message))?.line).toBe(lineOf(source, where));
  });
});

/** The same, with what keeps the queue from filling up again. */
const PREVENT = GOOD.replace(
  '        verify: emptied\n',
  `        verify: emptied
      prevent:
        when: worst.jobs > 500
        tool: queue_limit
        with: { jobs: 100 }
        why: Nobody limits \${worst.owner}.
`,
);

describe('what keeps a problem from coming back', () => {
  it('is read beside the repair, without a way to verify', () => {
    const outcome = parseRunbook('a.md', PREVENT);
    if (!outcome.ok) throw new Error(outcome.problems.map(problemLine).join('\n'));
    const turn = outcome.parsed.runbook.steps[0]?.checks[1]?.turn;
    expect(turn?.kind === 'conclude' && turn.conclusion.prevent).toEqual([
      {
        steps: [{ tool: 'queue_limit', with: { jobs: 100 }, why: 'Nobody limits ${worst.owner}.' }],
        when: 'worst.jobs > 500',
      },
    ]);
    expect(problemsOf(PREVENT)).toEqual([]);
  });

  it.each([
    ['an unknown tool', 'tool: queue_limit', 'tool: queue_cap', /there is no tool "queue_cap"/],
    ['a tool that only reads', 'tool: queue_limit', 'tool: queue_depth', /needs a tool that acts/],
    [
      'a tool that only mends',
      'tool: queue_limit\n        with: { jobs: 100 }',
      'tool: queue_purge\n        with: { owner: x }',
      /keeps nothing from coming back/,
    ],
    ['an input it does not take', 'jobs: 100', 'jobs: many', /does not take this as "jobs"/],
    ['an unknown name in its test', 'worst.jobs > 500', 'wurst.jobs > 500', /Unknown variable: wurst/],
    ['an unknown name in its reason', 'limits ${worst', 'limits ${wurst', /Unknown variable: wurst/],
    [
      'a criterion of its own',
      'jobs: 100 }',
      'jobs: 100 }\n        verify: emptied',
      /"verify" is not known here/,
    ],
    ['no reason', '        why: Nobody limits ${worst.owner}.\n', '', /expected some text/],
  ])('is refused with %s', (_name, from, to, message) => {
    const source = PREVENT.replace(from, to);
    expect(source).not.toBe(PREVENT);
    expect(problemsOf(source).map(problemLine).join('\n')).toMatch(message);
  });
});

describe('a broken runbook is told where and what was expected', () => {
  const broken: readonly (readonly [string, string, string, string, RegExp])[] = [
    ['a missing key', 'version: 1\n', '', 'id: full-queue', /version.*expected a number/],
    ['a wrong value', 'domain: postgres', 'domain: My SQL', 'domain: My SQL', /domain.*like postgres/],
    ['an unknown key', 'version: 1', 'version: 1\nowner: me', 'owner: me', /"owner" is not known here/],
    [
      'an id of another shape',
      'id: full-queue',
      'id: Full Queue',
      'id: Full Queue',
      /lower-case words joined by "-"/,
    ],
    ['bad YAML', '  text: [queue is full]', '  text: [queue is full', 'labels: {', /not YAML/],
    [
      'a syntax error in a test',
      'result.jobs > 100',
      'result.jobs >',
      'when: result.jobs >',
      /Unexpected token/,
    ],
    [
      'a name that nothing defines',
      'result.jobs > 100',
      'resutl.jobs > 100',
      'resutl',
      /Unknown variable: resutl/,
    ],
    [
      'a test that yields no truth',
      'result.jobs > 100',
      'size(result.owners)',
      'when: size',
      /expected true or false/,
    ],
    [
      'an unknown name in a template',
      'cause: "${worst.owner}',
      'cause: "${wurst.owner}',
      'wurst',
      /Unknown variable: wurst/,
    ],
    [
      'a template that is never closed',
      'cause: "${worst.owner} fills',
      'cause: "${worst.owner fills',
      'cause:',
      /without its "}"/,
    ],
    [
      'a step that is not there',
      'healthy: The queue is empty.',
      'go: nowhere',
      'go: nowhere',
      /there is no step "nowhere"; steps: queue/,
    ],
    [
      'a step that goes back',
      'healthy: The queue is empty.',
      'go: queue',
      'go: queue',
      /does not come after/,
    ],
    [
      'a cause without a word on what must be read for it',
      'requires: { step: queue, when: 1 <= result.jobs, bad: high }\n',
      '',
      'id: full-queue',
      /add "requires"/,
    ],
    [
      'a required step that is not there',
      'requires: { step: queue',
      'requires: { step: cue',
      'requires: { step: cue',
      /there is no step "cue"; steps: queue/,
    ],
    [
      'a requirement over what is not known yet',
      'when: 1 <= result.jobs',
      'when: 1 <= worst.jobs',
      '1 <= worst.jobs',
      /Unknown variable: worst/,
    ],
    ['a side that is none', 'bad: high', 'bad: sideways', 'bad: sideways', /high.*low.*present/],
    [
      'a required step that may fail',
      'id: queue\ncall',
      'id: queue\noptional: true\ncall',
      'requires:',
      /what is required may not be/,
    ],
    [
      'a cause before what is required was read',
      'id: queue\ncall: queue_depth',
      `id: before
call: queue_depth
checks:
  - when: result.jobs > 5
    conclude: { cause: Too many jobs., confidence: 0.5 }
\`\`\`

\`\`\`yaml step
id: queue
call: queue_depth`,
      'conclude: { cause: Too many',
      /before the step "queue" has read/,
    ],
    [
      'two endings',
      'healthy: The queue is empty.',
      'healthy: Fine.\n    cannot_tell: Or not.',
      'cannot_tell',
      /ends in one way/,
    ],
    [
      'a cause without a test',
      '  - when: result.jobs > 100\n    let:',
      '  - let:',
      'conclude:',
      /a cause needs a test/,
    ],
    [
      'a sure cause without evidence',
      `    claim:
      says: "\${worst.owner} has \${worst.jobs} jobs"
      quote: "\${worst.owner}"
`,
      '',
      'confidence: 0.95',
      /needs a "claim"/,
    ],
    [
      'a verify block that is not there',
      'verify: emptied',
      'verify: emtied',
      'verify: emtied',
      /there is no verify block "emtied"/,
    ],
    [
      'a measure that its tool has not',
      'measure: jobs',
      'measure: jobz',
      'measure: jobz',
      /"queue_depth" has no measure "jobz"; it has jobs/,
    ],
    [
      'a measure without a bound of its own',
      'measure: jobs\n    bound: 3',
      'measure: total',
      'measure: total',
      /"total" has no bound of its own/,
    ],
    [
      'a repair whose success nothing would show',
      'measure: jobs\n    bound: 3',
      'holds: result.jobs < 3',
      'verify: emptied',
      /reads no "measure"/,
    ],
    ['a duration without its unit', 'for: 10s', 'for: 10', 'for: 10', /for: /],
    ['a verification that can never hold', 'timeout: 2m', 'timeout: 5s', 'timeout: 5s', /longer than "for"/],
    [
      'a verify test over what is gone by then',
      '!result.owners',
      '!queue.owners',
      'holds:',
      /Unknown variable: queue/,
    ],
    [
      'a tool that is not there',
      'call: queue_depth\nwith',
      'call: queue_dpeth\nwith',
      'queue_dpeth',
      /there is no tool "queue_dpeth"/,
    ],
    [
      'a step that would act',
      'call: queue_depth\nwith: { name',
      'call: queue_purge\nwith: { owner',
      'call: queue_purge',
      /only read/,
    ],
    [
      'a proposal that only reads',
      'tool: queue_purge',
      'tool: queue_depth',
      'tool: queue_depth',
      /needs a tool that acts/,
    ],
    [
      'an input the tool does not have',
      'with: { owner: "${worst.owner}" }',
      'with: { owner: "x", owners: 3 }',
      'owners: 3',
      /has no input "owners"; it takes owner, keep/,
    ],
    [
      'an input of the wrong kind',
      'with: { owner: "${worst.owner}" }',
      'with: { owner: "x", keep: all }',
      'keep: all',
      /keep.*expected a number/,
    ],
    [
      'an input that is missing',
      'with: { owner: "${worst.owner}" }',
      'with: {}',
      'with: {}',
      /owner.*expected a text/,
    ],
    [
      'a block of another kind',
      '```yaml verify',
      '```yaml check',
      '```yaml check',
      /neither "yaml step" nor "yaml verify"/,
    ],
  ];
  it('a check of a verify block that is both a measure and a test', () => {
    const source = GOOD.replace('bound: 3', 'holds: result.jobs < 3');
    expect(problemsOf(source).map(problemLine).join('\n')).toMatch(/either "measure".*or "holds"/);
  });

  it.each(broken)('%s', (_name, from, to, where, message) => {
    const source = GOOD.replace(from, to);
    expect(source).not.toBe(GOOD);
    const problems = problemsOf(source);
    expect(problems.map(problemLine).join('\n')).toMatch(message);
    expect(problems.find((problem) => message.test(problem.message))?.line).toBe(lineOf(source, where));
  });

  it('points at the column of the fault inside an expression', () => {
    const source = GOOD.replace('result.jobs > 100', 'result.jobs > oops');
    const [problem] = problemsOf(source);
    const line = source.split('\n')[(problem?.line ?? 1) - 1] ?? '';
    expect(line.slice((problem?.column ?? 1) - 1)).toMatch(/^oops/);
  });

  it('says so when a code block is never closed', () => {
    const source = GOOD.slice(0, GOOD.indexOf('checks:'));
    expect(problemsOf(source)).toContainEqual({
      file: 'a.md',
      line: lineOf(source, '```yaml step'),
      column: 1,
      message: 'this code block is never closed',
    });
  });

  it('says so when there is no front matter', () => {
    expect(problemsOf('# Just text')[0]).toMatchObject({
      line: 1,
      message: expect.stringContaining('front matter'),
    });
  });
});

describe('many runbooks', () => {
  it('keeps the good ones when one is broken', () => {
    const other = GOOD.replace('id: full-queue', 'id: other-queue');
    const loaded = validateRunbooks([
      { file: 'bad.md', source: GOOD.replace('version: 1', 'version: one') },
      { file: 'good.md', source: other },
    ]);
    expect(loaded.runbooks.map((runbook) => runbook.id)).toEqual(['other-queue']);
    expect(loaded.problems.map((problem) => problem.file)).toEqual(['bad.md']);
  });

  it('refuses the second of two with one id', () => {
    const loaded = validateRunbooks([
      { file: 'a.md', source: GOOD },
      { file: 'b.md', source: GOOD },
    ]);
    expect(loaded.runbooks.map((runbook) => runbook.file)).toEqual(['a.md']);
    expect(loaded.problems[0]?.message).toBe('the id "full-queue" is taken by a.md');
  });

  it('refuses to hand over to a runbook that is not there', () => {
    const source = GOOD.replace('healthy: The queue is empty.', 'use: empty-queue');
    expect(problemsOf(source)[0]).toMatchObject({
      line: lineOf(source, 'use: empty-queue'),
      message: 'there is no runbook "empty-queue"',
    });
  });
});
