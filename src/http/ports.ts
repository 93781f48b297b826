/** What the server counts; the registry in infra/metrics fits. */
export interface HttpMetrics {
  counter(name: string, help: string): { add(labels?: Readonly<Record<string, string>>, by?: number): void };
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
  ): { observe(value: number, labels?: Readonly<Record<string, string>>): void };
}

/** Asked once a request, before its body is read. */
export type RateLimit = (request: {
  readonly method: string;
  readonly path: string;
  readonly peer: string;
}) => { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number };
