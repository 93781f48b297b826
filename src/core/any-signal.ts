/** A signal keeps the ones it follows for as long as somebody keeps it. */
const followed = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * `AbortSignal.any`, which holds what it follows only weakly: Node 20 throws an `AbortSignal.timeout` that stands in it alone
 * away with the next garbage, and that time is never up.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals]);
  followed.set(any, signals);
  return any;
}
