/** What the server counts; the registry in infra/metrics fits. */
export interface HttpMetrics {
  counter(name: string, help: string): { add(labels?: Readonly<Record<string, string>>, by?: number): void };
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
  ): { observe(value: number, labels?: Readonly<Record<string, string>>): void };
}

export type RequestKind = 'known' | 'signed' | 'stranger';

/** Asked once a request, before its body is read. */
export type RateLimit = (request: {
  readonly peer: string;
  /** `known`: it has shown what its path asks for; `signed`: whoever takes it will look at its signature. */
  readonly kind: RequestKind;
}) => { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number };
