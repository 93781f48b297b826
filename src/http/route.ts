import type { IncomingHttpHeaders } from 'node:http';

/** One path and method; the server has checked method, length and content type before `handle` is called. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** `:name` stands for one segment, see `HttpRequest.params`. */
  readonly path: string;
  /** Bytes; more is answered 413. */
  readonly bodyLimit?: number;
  /** Media types taken, without parameters; any when absent. Else 415. */
  readonly mediaTypes?: readonly string[];
  /** Served under whatever name: it asks for a secret, or tells nothing. Else only under names of this server; 403. */
  readonly anyHost?: boolean;
  /**
   * Looks at the request before its body is read: an answer here ends it (401, 403). A stranger is not listened to.
   * `in_body`: only the body can tell, so until then it counts as a stranger, and `handle` decides.
   */
  readonly admit?: (request: HttpHead) => HttpAnswer | 'in_body' | null;
  /** May throw: the caller sees 500 without details and the log has the error. */
  handle(request: HttpRequest): Promise<HttpAnswer> | HttpAnswer;
}

export interface HttpHead {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The name by which this server was called; null: not exactly one. */
  readonly host: string | null;
  /** The caller's address: the socket's other end, or whom a declared proxy there speaks for. */
  readonly peer: string;
  /** Whether that is this machine. */
  readonly isLoopback: boolean;
}

export interface HttpRequest extends HttpHead {
  /** Raw bytes, as signed by whoever signs. */
  readonly body: Buffer;
  /** What the path's `:name`s stand for, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a string as text/plain unless `content-type` says otherwise. */
  readonly body?: object | string;
}

/** One door for everything below some paths: whoever it does not let in learns of nothing that is there, or is not. */
export interface Guard {
  /** `/api` stands for itself and for what is below it. */
  readonly roots: readonly string[];
  /** The name under which the caller's requests are counted, or why it is not let in. */
  admit(request: HttpHead): { readonly caller: string } | HttpAnswer;
}
