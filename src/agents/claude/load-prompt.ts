import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../safety/sha256.ts';

const prompted = ['triage', 'lead', 'specialist', 'detective', 'surgeon', 'conversation'] as const;
export type PromptedRole = (typeof prompted)[number];

/** A role's system text; the same for every incident. */
export interface Prompt {
  readonly system: string;
  /** First 12 hex digits of the text's SHA-256: which words were in force. */
  readonly version: string;
}

/** One digest over the words of all roles, for the record. */
export function promptsVersion(folder?: string): string {
  const versions = prompted.map((role) => loadPrompt(role, folder).version);
  const words = [...versions, compactionPrompt(folder), scepticPrompt(folder), stillSoPrompt(folder)];
  return sha256(words.join()).slice(0, 12);
}

/** What a model is told that sums its own history up. */
export function compactionPrompt(folder?: string): string {
  return read('compaction', folder);
}

/** What is told who doubts: alone, since it calls nothing and reads nothing else. */
export function scepticPrompt(folder?: string): string {
  return read('sceptic', folder);
}

/** What is told who judges whether a cause still stands, alone as well. */
export function stillSoPrompt(folder?: string): string {
  return read('still-so', folder);
}

/** Policy first, so that all roles share the beginning. Files in `folder`, for trying others out, take the place of ours. */
export function loadPrompt(role: PromptedRole, folder?: string): Prompt {
  const system = `${read('policy', folder)}\n${read(role, folder)}`;
  return { system, version: sha256(system).slice(0, 12) };
}

function read(name: string, folder: string | undefined): string {
  const other = folder === undefined ? undefined : join(folder, `${name}.md`);
  if (other !== undefined && existsSync(other)) return readFileSync(other, 'utf8');
  return readFileSync(new URL(`../prompts/${name}.md`, import.meta.url), 'utf8');
}
