/**
 * Milliseconds that this process has computed since the call, whatever else the machine does meanwhile: a wall clock
 * would tell how busy the machine is.
 */
export function cpuClock(): () => number {
  const begun = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  };
}
