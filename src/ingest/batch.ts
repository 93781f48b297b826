/**
 * Turns a function over batches into one over single items: what is asked for while a batch is under way goes together
 * into the next, which starts when the one before has ended, or beside it when `beside` items wait (two at most). A
 * batch that takes longer than `patienceMs` (it waits for somebody's lock) does not hold up the others: the next starts
 * beside it, up to `concurrency`. A batch that fails because of what is in it is tried again item by item, so that one
 * bad item fails alone; `run` must therefore be harmless to repeat.
 *
 * @param blames whether an error is about the items rather than about the way to them
 */
export function inBatches<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  limits: {
    readonly beside: number;
    readonly concurrency: number;
    readonly size: number;
    readonly patienceMs: number;
  },
  blames: (error: unknown) => boolean,
): (item: T) => Promise<R> {
  const waiting: Waiting<T, R>[] = [];
  let running = 0;
  let patience: NodeJS.Timeout | undefined;
  let starting: NodeJS.Immediate | undefined;

  const mayStart = (): boolean =>
    waiting.length > 0 &&
    (running === 0 ||
      (running === 1 && limits.concurrency > 1 && waiting.length >= limits.beside) ||
      (patience === undefined && running < limits.concurrency));

  const start = (): void => {
    running += 1;
    clearTimeout(patience);
    patience = setTimeout(() => {
      patience = undefined;
      if (mayStart()) start();
    }, limits.patienceMs);
    void work(waiting.splice(0, limits.size)).then((tell) => {
      running -= 1;
      if (running === 0) clearTimeout(patience);
      if (mayStart()) start();
      // The next batch is on its way before anybody acts on this one: answering takes as long as a batch.
      setImmediate(tell);
    });
  };

  /** Runs the batch; returns what tells everybody who waits for it. */
  const work = async (batch: readonly Waiting<T, R>[]): Promise<() => void> => {
    try {
      const results = await run(batch.map(({ item }) => item));
      return () => {
        batch.forEach(({ resolve }, i) => {
          resolve(results[i] as R);
        });
      };
    } catch (error) {
      const tellers: (() => void)[] = [];
      if (batch.length > 1 && blames(error)) for (const one of batch) tellers.push(await work([one]));
      else for (const { reject } of batch) tellers.push(() => reject(error));
      return () => {
        for (const tell of tellers) tell();
      };
    }
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // What else arrived in this turn of the event loop comes along. Later ones are started by the end of a batch, or
      // when patience is over.
      starting ??= setImmediate(() => {
        starting = undefined;
        if (mayStart()) start();
      });
    });
}

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}
