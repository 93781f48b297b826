import type { ScheduleConfig } from '../escalation-config.ts';
import type { OnCallSchedule } from '../ports.ts';
import { createOpsgenieSchedule } from './opsgenie/index.ts';
import { createPagerDutySchedule } from './pagerduty/index.ts';
import { createRotation } from './rotation/index.ts';

/** Opens nothing: it asks when it is asked. */
export function createSchedule(config: ScheduleConfig): OnCallSchedule {
  switch (config.type) {
    case 'pagerduty':
      return createPagerDutySchedule(config);
    case 'opsgenie':
      return createOpsgenieSchedule(config);
    case 'rotation':
      return createRotation(config);
  }
}
