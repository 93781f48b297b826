import type { CommandPolicy } from './policy.ts';
import type { Word } from './tokenize.ts';

/** Reads a value: the canonical form when it is allowed, undefined when it is not. */
export type ValueType = (text: string, policy: CommandPolicy) => string | undefined;

/** One flag of a binary. What has no entry does not exist. */
export interface Flag {
  /** All spellings, e.g. `['-n', '--lines']`. */
  readonly names: readonly string[];
  /** The type of its value; a flag without one takes none. */
  readonly value?: ValueType;
  /** The value may only be attached (`--output=size`) and may be left out. */
  readonly optionalValue?: true;
  /** What is put into the argv; the first name when left out. */
  readonly emit?: (value: string | undefined) => readonly string[];
  /** How often it may stand; 1 when left out. */
  readonly times?: number;
}

/** A binary's argument grammar, as data. */
export interface Grammar {
  readonly binary: string;
  /** Shown when something is refused. */
  readonly usage: string;
  readonly flags: readonly Flag[];
  readonly operands: {
    readonly type: ValueType;
    readonly min: number;
    readonly max: number;
    readonly are: string;
  };
  /** True when operands are files to be opened under the path rules. */
  readonly files?: true;
  /** Rewrites historic spellings (`tail -30`, `ps -aux`) before flags are read. */
  readonly rewrite?: (words: readonly Word[]) => readonly Word[];
  /** Put before everything else unless the caller gave a flag of this name. */
  readonly enforced?: readonly { readonly unless?: string; readonly words: readonly string[] }[];
  /** Flags that may not stand together, by first name. */
  readonly conflicts?: readonly (readonly [string, string])[];
  /** Checks the whole: the reason for a refusal. `given` holds the first names of the flags that stand. */
  readonly whole?: (operands: readonly string[], given: ReadonlySet<string>) => string | undefined;
}
