import type { z } from 'zod';
import type { Domain } from '../core/incident.ts';
import type { Inventory } from '../core/inventory.ts';
import type { Watch } from '../core/sighting.ts';
import type { FirstLook, Target } from '../core/target.ts';
import type { Json, ToolCall } from '../core/tool-call.ts';
import type { UsualNumber } from '../core/usual.ts';
import type { WatchedLog } from '../core/watched-log.ts';
import type { ReadTool, Tool } from '../tools/define.ts';

/** A domain, and what tells that an alert is of it. */
export interface KindDomain {
  readonly name: Domain;
  /**
   * A label, and its value, of alerts about it that name no configured target. Null: no label tells it. What no label tells
   * at all is in the first such domain of all kinds.
   */
  readonly label: readonly [name: string, value: string] | null;
}

/** A target as configured: what every kind has. A kind adds its addresses and credentials, which stay in its folder. */
export type TargetConfig = Target;

/** An entry of `sentry.yaml` as a kind is given it, its own fields parsed. */
export type EntryOf<F extends z.ZodRawShape> = TargetConfig & z.infer<z.ZodObject<F>>;

/** What identifies a system beyond its name: a failover or a restored copy is another one, and voids approvals. */
export interface TargetIdentity {
  readonly systemIdentifier: string;
  /** 0 where a system has no timelines. */
  readonly timelineId: number;
}

/** The way to one target, kept open for as long as Sentry runs. */
export interface Connection<S> {
  /** What the kind's tools work with. */
  readonly system: S;
  /** By the acting credential where there is one, so that it is the system which would be changed. */
  identity(): Promise<TargetIdentity>;
  close(): Promise<void>;
}

/** What a kind may need to know of this Sentry to connect. */
export interface ConnectDeps {
  /** Ports of Sentry itself and of what it keeps on this machine: their answers are not for models. */
  readonly ownPorts: readonly number[];
}

/** A read that failed or was refused, with its code; or one that answered (`code` null), and may have shown only a part. */
export interface FailedRead extends Pick<ToolCall, 'tool' | 'target' | 'input' | 'result' | 'output'> {
  readonly code: string | null;
}

/** What somebody has to do outside of Sentry before a read can work. */
export interface GrantSteps {
  /** Who may do it. */
  readonly who: string;
  /** What to do, in words. */
  readonly what: string;
  /** Exactly what to run or to write; null where there is no one text for it. */
  readonly exact: string | null;
  /** What to consider before, or to do after; null: nothing. */
  readonly note: string | null;
}

/** What a person can do about a failed read. `hint`: a sentence for the report, beside the failure's own reason. */
export type Advice =
  /** The same read may work the next time. `isAway`: the target did not answer at all. */
  | { readonly way: 'run'; readonly isAway: boolean; readonly hint?: string }
  /** Somebody has to allow it first. `reason`: what a read that answered did not show. */
  | { readonly way: 'grant'; readonly steps: GrantSteps; readonly reason?: string; readonly hint?: string }
  /** Neither helps at once. */
  | { readonly way: 'explain'; readonly hint: string };

/** A cheap read, and the numbers that are kept out of what it answers. */
export interface UsualRead {
  /** One of the kind's tools, or a read of its own that nobody else calls. */
  // oxlint-disable-next-line typescript/no-explicit-any -- reads of every input and system together; each parses its own
  readonly tool: ReadTool<any, any>;
  readonly input: Json;
  readonly numbers: readonly UsualNumber[];
}

/**
 * A kind of system Sentry may touch. Whoever needs to know about kinds iterates `kinds.ts`; nobody compares a kind's name.
 * `C`: a target as configured. `S`: the connection its tools work with.
 */
export interface TargetKind<C extends TargetConfig = TargetConfig, S = unknown> {
  /** As `kind:` in `sentry.yaml`: lower-case letters. */
  readonly name: string;
  /** What people call several of them. */
  readonly plural: string;
  /**
   * Those it brings. A target is in the first, or in the one of what no label tells where it brings none, unless its kind has a
   * field `domain`, which may say any kind's.
   */
  readonly domains: readonly KindDomain[];
  /**
   * Its fields in `sentry.yaml`, besides those of every target. Their `meta` tells `sentry targets` what it asks for
   * (`description`), how that is written (`example`, as YAML) and what is missing where it is left out (`without`).
   */
  readonly fields: z.ZodRawShape;
  /** From its parsed entry and the environment variables this names; what is wrong, a line each. */
  read(entry: never, env: Readonly<Record<string, string | undefined>>): C | readonly string[];
  /** What of its configuration the audit log shows: what may be done to it, and no secret. */
  settings(config: C): { readonly [key: string]: Json };
  /** The account it is read with, for what a person may have to grant to it; null where there is none. */
  reader(config: C): string | null;
  /** Opens nothing that could fail: what cannot be reached is tried again for as long as the connection lives. */
  connect(config: C, deps: ConnectDeps): Connection<S>;
  /** Tools that are not for this target though they are for its kind, each with the reason; none when left out. */
  refuses?(config: C): Readonly<Record<string, string>>;
  /** For `sentry doctor`: tries it, and says in a line how it is. Throws OpsError with what to do. */
  doctor(config: C, connection: Connection<S>): Promise<string>;
  /** What it runs, by name: `os`, `postgresql`, `service orders`; versions or names as the system gives them. */
  facts(system: S): Promise<Readonly<Record<string, string>>>;
  /**
   * What it is made of now, for what was changed to be told by comparing two looks: a few cheap reads, by the reading credential.
   * Throws where nothing of it can be read; a part that cannot is in `unread`.
   */
  inventory?(system: S, signal: AbortSignal): Promise<Inventory>;
  /**
   * The few numbers that Sentry keeps of it, read once an hour by the reading credential, so that now can be compared with what is usual.
   * Null where it has none worth that, or keeps its own.
   */
  readonly usual: readonly UsualRead[] | null;
  /** How it tells by itself what happens to it; null where its configuration wants nothing heard. */
  watch(config: C, system: S): Watch | null;
  /** Its logs that its configuration wants watched. */
  logs(config: C, system: S): readonly WatchedLog[];
  /** What to do about a failed read of its tools; null where nothing is to be done, or nothing may be. Pure. */
  advise(read: FailedRead, reader: string | null): Advice | null;
  readonly looks: readonly FirstLook[];
  /** In the order models are shown them. Made with `toolsOf` under the same name. */
  readonly tools: readonly Tool[];
}

/** Gives a kind its types; the registry keeps kinds of every type together, each of which is given its own only. */
export function defineKind<C extends TargetConfig, S>(kind: TargetKind<C, S>): TargetKind {
  return kind as unknown as TargetKind;
}
