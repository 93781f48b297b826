/** How many cases a property is tried with: `FUZZ_RUNS` (`npm run fuzz`), else few enough for every test run. */
export const fuzzRuns = Number(process.env['FUZZ_RUNS'] ?? 300);
