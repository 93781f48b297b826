import { mkdirSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** A vitest reporter: counts for scripts/test.mjs, in test-results/summary-<pid>.json. */
// vitest finds a reporter by the default export.
// oxlint-disable-next-line import/no-default-export
export default class SummaryReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const summary = { passed: 0, failed: 0, skipped: [], failures: [], retried: [] };
    for (const module of modules) countModule(module, summary);
    for (const error of unhandledErrors)
      fail(summary, `error outside a test${whileRunning(error)}: ${inShort(error)}`);
    mkdirSync('test-results', { recursive: true });
    writeFileSync(`test-results/summary-${process.pid}.json`, JSON.stringify(summary));
  }
}

function countModule(module, summary) {
  const file = relative(process.cwd(), module.moduleId);
  // A file that cannot be loaded, or a hook that fails, has no failed test of its own.
  for (const error of module.errors()) fail(summary, `${file}: ${error.message}`);
  for (const suite of module.children.allSuites()) {
    for (const error of suite.errors()) fail(summary, `${file} > ${suite.fullName}: ${error.message}`);
  }
  for (const test of module.children.allTests()) {
    const name = `${file} > ${test.fullName}`;
    const result = test.result();
    const said = `${name}: ${inShort(result.errors?.[0])}`;
    if (result.state === 'passed') {
      summary.passed += 1;
      if (test.diagnostic()?.flaky) summary.retried.push(said);
    } else if (result.state === 'failed') fail(summary, said);
    else if (result.state === 'skipped') summary.skipped.push({ name, why: result.note ?? whyOf(test) });
    else fail(summary, `${name}: never ran`);
  }
}

function fail(summary, name) {
  summary.failed += 1;
  summary.failures.push(name);
}

/** Its first line, and where it comes from: what is left of a log is often its end. */
function inShort(error) {
  const frames = String(error?.stack ?? '').match(/^ +at .*$/gm) ?? [];
  const ours = frames.find((frame) => !frame.includes('node_modules')) ?? frames[0] ?? '';
  return `${String(error?.message ?? error).split('\n', 1)[0]} ${ours.trim().replaceAll(`${process.cwd()}/`, '')}`.trim();
}

function whileRunning({ VITEST_TEST_PATH: path, VITEST_TEST_NAME: name }) {
  return path ? `, while ${relative(process.cwd(), path)}${name ? ` > ${name}` : ''} ran` : '';
}

function whyOf(test) {
  if (test.options.mode === 'todo') return 'marked as todo';
  return test.options.mode === 'skip'
    ? 'marked as skipped in the file'
    : 'left out by the run (filter or .only)';
}
