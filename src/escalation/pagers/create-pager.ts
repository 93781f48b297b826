import type { PagerConfig } from '../escalation-config.ts';
import type { Pager } from '../ports.ts';
import { createOpsgenie } from './opsgenie/index.ts';
import { createPagerDuty } from './pagerduty/index.ts';
import { createWebhook } from './webhook/index.ts';

/** Opens nothing: it calls when it is called. `timeoutMs`: how long it waits for an answer; ten seconds. */
export function createPager(config: PagerConfig, timeoutMs?: number): Pager {
  switch (config.type) {
    case 'pagerduty':
      return createPagerDuty(config, timeoutMs);
    case 'opsgenie':
      return createOpsgenie(config, timeoutMs);
    case 'webhook':
      return createWebhook(config, timeoutMs);
  }
}
