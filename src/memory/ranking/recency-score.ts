const DAY_MS = 86_400_000;
/** The seed's number. */
const HALF_LIFE_DAYS = 30;

/** 1 for now or later, half after 30 days, a quarter after 60. */
export function recencyScore(at: Date, now: Date): number {
  const days = Math.max(0, now.getTime() - at.getTime()) / DAY_MS;
  return 0.5 ** (days / HALF_LIFE_DAYS);
}
