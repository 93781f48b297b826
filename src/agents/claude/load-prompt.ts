import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type PromptedRole = 'triage' | 'detective' | 'surgeon';

/** A role's system text; the same for every incident. */
export interface Prompt {
  readonly system: string;
  /** First 12 hex digits of the text's SHA-256: which words were in force. */
  readonly version: string;
}

/** One digest over the words of all roles, for the record. */
export function promptsVersion(): string {
  const versions = (['triage', 'detective', 'surgeon'] as const).map((role) => loadPrompt(role).version);
  return createHash('sha256').update(versions.join()).digest('hex').slice(0, 12);
}

/** Policy first, so that all roles share the beginning. */
export function loadPrompt(role: PromptedRole): Prompt {
  const system = `${read('policy')}\n${read(role)}`;
  return { system, version: createHash('sha256').update(system).digest('hex').slice(0, 12) };
}

function read(name: string): string {
  return readFileSync(new URL(`../prompts/${name}.md`, import.meta.url), 'utf8');
}
