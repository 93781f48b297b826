/**
 * Turns a function over batches into one over single items: what is asked for while `concurrency` batches are under way
 * goes together into the next. A batch that fails because of what is in it is tried again item by item, so that one bad item
 * fails alone; `run` must therefore be harmless to repeat.
 *
 * @param blames whether an error is about the items rather than about the way to them
 */
export function inBatches<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  limits: { readonly concurrency: number; readonly size: number },
  blames: (error: unknown) => boolean,
): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = [];
  let running = 0;

  const pump = (): void => {
    while (running < limits.concurrency && waiting.length > 0) {
      running += 1;
      void work(waiting.splice(0, limits.size)).finally(() => {
        running -= 1;
        pump();
      });
    }
  };

  const work = async (batch: readonly Waiting<T, R>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => {
        resolve(results[i] as R);
      });
    } catch (error) {
      if (batch.length > 1 && blames(error)) for (const one of batch) await work([one]);
      else for (const { reject } of batch) reject(error);
    }
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      pump();
    });
}

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}
