/**
 * What `work` gives, or what `onLate` gives (or throws) when that takes longer; an error when left out: for a server that
 * accepts and never answers. The work itself goes on; whoever wants it ended says so to it.
 */
export async function within<T, L = never>(
  ms: number,
  work: Promise<T>,
  onLate: () => L | Promise<L> = () => {
    throw new Error(`no answer within ${ms} ms`);
  },
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  }).then(onLate);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
