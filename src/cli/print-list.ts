/** One line each on standard output: as JSON, or for people, who are told `none` where there is nothing to list. */
export function printList<T>(found: readonly T[], json: boolean, line: (one: T) => string, none = ''): void {
  for (const one of found) process.stdout.write(`${json ? JSON.stringify(one) : line(one)}\n`);
  if (found.length === 0 && !json) process.stdout.write(none);
}
