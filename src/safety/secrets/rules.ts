import type { Rule } from './rule.ts';
import { assignmentRules } from './rules/assignment.ts';
import { blockRules } from './rules/blocks.ts';
import { cloudRules } from './rules/cloud.ts';
import { commandRules } from './rules/commands.ts';
import { credentialRules } from './rules/credentials.ts';
import { forgeRules } from './rules/forges.ts';
import { serviceRules } from './rules/services.ts';
import { vendorNameRules } from './rules/vendor-names.ts';

/** Every kind of secret, the specific before the general: where two overlap, the first in the table names the finding. */
export const secretRules: readonly Rule[] = [
  ...blockRules,
  ...cloudRules,
  ...forgeRules,
  ...serviceRules,
  ...vendorNameRules,
  ...credentialRules,
  ...commandRules,
  ...assignmentRules,
];
