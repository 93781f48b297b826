/** What one model call used and cost, by a dated price table. */
export interface ModelUsage {
  readonly model: string;
  /** Neither read from the cache nor written to it. */
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  /** Both lifetimes. */
  readonly cacheWriteTokens: number;
  /** Of them those kept for an hour. */
  readonly cacheWrite1hTokens: number;
  /** Thinking included. */
  readonly outputTokens: number;
  readonly thinkingTokens: number;
  readonly costUsd: number;
  /** What the cost breaker let it with; absent where nothing is reserved. */
  readonly reservation?: string;
}
