export type RequestKind = 'known' | 'signed' | 'stranger';

/** Asked once a request, before its body is read. */
export type RateLimit = (request: {
  readonly peer: string;
  /** `known`: it has shown what its path asks for; `signed`: whoever takes it will look at its signature. */
  readonly kind: RequestKind;
}) => { readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number };
