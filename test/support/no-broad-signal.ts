/**
 * A test whose process is not there must fail, not signal everybody: for kill(2), -1 is every process of the machine, 0 the
 * caller's own group. Vitest runs this before each test file.
 */
const { kill } = process;
process.kill = (pid, signal) => {
  if (!Number.isInteger(pid) || pid === 0 || pid === -1 || pid === 1)
    throw new RangeError(`a test may not signal ${String(pid)}: it means more than one process`);
  return kill.call(process, pid, signal);
};
