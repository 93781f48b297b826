import { refuse } from '../../core/errors.ts';
import { mayUse } from '../access.ts';
import type { Check } from './check.ts';

/**
 * Check 2: the credential's role may use this kind of tool. The role never comes from the caller's words, and the
 * supervisor's row in the table is what it may route: it runs nothing itself.
 */
export const roleAccess: Check = ({ credential, tool }) =>
  tool && credential.role !== 'supervisor' && mayUse(credential.role, tool.kind)
    ? undefined
    : refuse('ROLE_MAY_NOT', `The ${credential.role} role may not use ${tool?.name ?? 'this tool'}.`);
