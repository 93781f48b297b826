/** The worker of a killed run ends at once: what it started from now on, nobody would end. Vitest runs this before each test file. */
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
