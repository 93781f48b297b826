/** Something on its way to the app, over either transport. */
export interface Envelope {
  readonly kind: 'event' | 'interactive' | 'command';
  readonly payload: Readonly<Record<string, unknown>>;
  /** The app may answer in its acknowledgement (views, options, commands). */
  readonly acceptsResponse: boolean;
  /** 0 for the first attempt. */
  readonly attempt: number;
  /** Why the attempt before this one failed; empty for the first. */
  readonly retryReason: string;
}

/** `body`: what the app said in its acknowledgement, if anything. `noRetry`: it asked not to be asked again. */
export type Ack =
  | { readonly acked: true; readonly body: unknown }
  | { readonly acked: false; readonly reason: string; readonly noRetry: boolean };

/** Never rejects for what the app does or fails to do: that is a negative `Ack`. */
export interface Transport {
  send(envelope: Envelope): Promise<Ack>;
}
