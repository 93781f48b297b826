// Ends what a test run has started when the run itself is killed: `node reaper.mjs <folder> <run>`, with a pipe to the
// run as its standard input, which ends however the run does.
process.stdin.resume().once('end', async () => {
  const { tsImport } = await import('tsx/esm/api');
  const { removeWithProcesses } = await tsImport('./processes-under.ts', import.meta.url);
  const [folder, run] = process.argv.slice(2);
  // Put together here: in a command line it would be a trace of the run, and the reapers of a run would end each other.
  await removeWithProcesses(folder, `SENTRY_TEST_RUN=${run}`);
});
