import { containerFaults } from './containers-faults.ts';
import { containerHealth } from './containers-health.ts';
import { containerLooks } from './containers-looks.ts';
import { inEngines } from './containers-scene.ts';
import { containerUses } from './containers-uses.ts';

export const containerCases = inEngines([
  ...containerFaults,
  ...containerHealth,
  ...containerUses,
  ...containerLooks,
]);
