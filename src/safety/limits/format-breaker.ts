import { minute } from '../kill-switch/kill-switch.ts';
import type { BreakerView } from './cost-breaker.ts';

/** The cost breaker in one line for people. */
export function formatBreaker(view: BreakerView): string {
  const { usd, windowMs } = view.limits;
  const minutes = windowMs / 60_000;
  const spent = `$${view.spentUsd.toFixed(2)} of $${usd} in the last ${minutes} minutes`;
  switch (view.state) {
    case 'closed':
      return `Cost breaker closed: ${spent}.`;
    case 'open':
      return `Cost breaker OPEN since ${minute(view.since)} (${view.reason}): no model calls; ${spent} now.`;
    case 'half_open':
      return `Cost breaker half-open: one model call tries whether it may go on; ${spent}.`;
  }
}
