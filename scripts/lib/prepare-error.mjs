/** A failure whose message tells the reader what to do; shown without a stack. */
export class PrepareError extends Error {}
