import type { Domain } from './incident.ts';

/** A system Sentry may touch, by name, from configuration. Addresses and credentials stay with its kind. */
export interface Target {
  /** Lower-case letters, digits, `-`, `_`, `.`; what models and people call it. */
  readonly name: string;
  /** One of the registered kinds of system (`targets/kinds.ts`). */
  readonly kind: string;
  readonly domain: Domain;
  readonly environment: string;
  /** Names and label values an alert may use for it (`shop-db:5432`, `shop`), matched whole and case-insensitively. */
  readonly aliases: readonly string[];
  /** Which alerts are about it, whatever they call it; none when left out. */
  readonly alerts?: readonly LabelRule[];
  /** Targets that its incidents may read, too: by read tools alone, and not the other way round. None when left out. */
  readonly neighbours?: readonly string[];
  /** Sources whose word of a change counts when its incidents are put together with others. Every source when left out. */
  readonly changesFrom?: readonly string[];
  /** Tools of its kind that are not for it, each with the reason. None when left out. */
  readonly refuses?: Readonly<Record<string, string>>;
}

/** An alert fits when it carries all these labels; a `*` in a value stands for any characters. */
export interface LabelRule {
  readonly labels: Readonly<Record<string, string>>;
}

/** A first look at a system when no runbook fits: cheap, read-only, and enough for a person to go on from. */
export interface FirstLook {
  /** A read tool, called without input. */
  readonly tool: string;
  /** For people: `What the sessions are doing`. */
  readonly why: string;
}
