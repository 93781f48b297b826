import type { Trust } from '../documents/document.ts';

/** The seed's numbers. */
const TIERS: Readonly<Record<Trust, number>> = {
  agent_draft: 0.45,
  user_authored: 0.85,
  system_seeded: 0.95,
  admin_approved: 1,
};
const ascending = Object.values(TIERS).sort((a, b) => a - b);

/** What following a memory led to, by verification; unknown outcomes are neither. */
export interface Outcomes {
  readonly worked: number;
  readonly failed: number;
}

/** Outcomes that move half the way: one success is a hint, ten are a record. */
const HALF_WAY = 3;

/**
 * Trust by who vouches for a memory, 0–1, moved by its record up to half-way to the next tier above or below: what
 * worked ten times is worth more than what nobody tried, and still less than what the next tier vouches for.
 */
export function trustScore(trust: Trust, { worked, failed }: Outcomes = { worked: 0, failed: 0 }): number {
  const tier = TIERS[trust];
  const at = ascending.indexOf(tier);
  const balance = (worked - failed) / (worked + failed + HALF_WAY);
  const next = balance > 0 ? (ascending[at + 1] ?? tier) : (ascending[at - 1] ?? 0);
  return tier + (Math.abs(balance) * (next - tier)) / 2;
}

/**
 * Whether a model reads it as what the team knows: somebody has reviewed it, and its tier, which no record moves, is high
 * enough. What a person said is theirs, and reviewed by nobody.
 */
export function isTrusted(trust: Trust, threshold: number): boolean {
  return (trust === 'admin_approved' || trust === 'system_seeded') && TIERS[trust] >= threshold;
}
