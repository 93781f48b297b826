import type { EngineName } from '../../playground/faults/containers/shop-engine.ts';
import type { Shop } from '../../playground/faults/postgres/shop.ts';
import type { Json } from '../../src/core/tool-call.ts';
import type { ScratchServer } from './scratch-server.ts';

/** An incident to record: how to cause it for real, the alert it raises, and what a right answer says. */
export interface FaultCase {
  readonly id: string;
  readonly title: string;
  /** The runbook that is made for it; null: there is none. */
  readonly runbook: string | null;
  /** What else somebody would look at, beside what is asked of every system of its kind. */
  readonly looks?: readonly Look[];
  readonly alert: {
    readonly alertname: string;
    readonly severity: 'critical' | 'warning' | 'info';
    readonly summary: string;
    readonly description: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly expected: ExpectedAnswer;
  /** Brings it about, and returns when it is there. */
  cause(lab: Lab): Promise<CausedFault>;
}

/** A read. */
export interface Look {
  readonly tool: string;
  readonly input?: Json;
}

/** As in a scenarios file; docs/evals.md describes the fields. */
export interface ExpectedAnswer {
  readonly root_cause: string;
  readonly verdict: 'cause_found' | 'healthy' | 'cannot_tell';
  readonly category?: string;
  readonly keywords?: readonly string[];
  readonly keyword_groups?: readonly (readonly string[])[];
  readonly forbidden_keywords?: readonly string[];
  readonly forbidden_categories?: readonly string[];
  readonly needed_evidence?: readonly (readonly string[])[];
  readonly red_herrings?: readonly string[];
}

/** What is left in place for the tools to look at: a database by this credential, a host, an engine, or a cluster. */
export type CausedFault = (
  | { readonly readUrl: string }
  /** Its folders and services, as its kind is configured. */
  | {
      readonly host: {
        readonly roots: readonly object[];
        readonly services: readonly object[];
        readonly curlHosts: readonly string[];
      };
    }
  | { readonly engine: { readonly kind: EngineName; readonly socket: string } }
  /** As its kind is configured. */
  | { readonly cluster: { readonly kubeconfig: object; readonly namespaces: readonly string[] } }
) & { release(): Promise<void> };

/** The servers on which faults are caused, started when first asked for. */
export interface Lab {
  shop(): Promise<Shop>;
  /** One of a kind, by its settings. */
  server(kind: ServerKind): Promise<ScratchServer>;
}

export type ServerKind = 'plain' | 'replica' | 'small' | 'old' | 'archiving';
