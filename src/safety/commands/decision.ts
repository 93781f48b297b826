/** A command that may be run, in exactly these words. Made by `parseCommand` only. */
export interface AllowedCommand {
  readonly allowed: true;
  readonly binary: string;
  /** What is run and shown: the binary's name, the enforced bounds, then what was asked, in canonical order. */
  readonly argv: readonly string[];
  /** Places in `argv` that are files to open under the path rules. */
  readonly files: readonly number[];
}

export interface RefusedCommand {
  readonly allowed: false;
  /** Stable, e.g. `metacharacter`, `unknown-flag`. */
  readonly rule: string;
  readonly reason: string;
  /** What would be allowed. */
  readonly allowedInstead: string;
}

export type CommandDecision = AllowedCommand | RefusedCommand;

export function refuseCommand(rule: string, reason: string, allowedInstead: string): RefusedCommand {
  return { allowed: false, rule, reason, allowedInstead };
}
