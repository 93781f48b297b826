/**
 * Asks for each key once, and keeps the answer for `forMs`: whoever asks meanwhile waits for the same answer. A failure is not
 * kept: the next question asks again.
 */
export function cacheAnswers<T>(
  ask: (key: string) => Promise<T>,
  forMs: number,
): (key: string) => Promise<T> {
  const kept = new Map<string, { readonly until: number; readonly answer: Promise<T> }>();
  return (key) => {
    const known = kept.get(key);
    if (known && known.until > performance.now()) return known.answer;
    const answer = ask(key);
    kept.set(key, { until: performance.now() + forMs, answer });
    answer.catch(() => kept.delete(key));
    return answer;
  };
}
