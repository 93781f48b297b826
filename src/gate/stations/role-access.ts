import { refuse } from '../../domain/errors.ts';
import { mayUse } from '../access.ts';
import type { Station } from '../station.ts';

/** Station 2: the credential's role may use this kind of tool. The role never comes from the caller's words. */
export const roleAccess: Station = ({ credential, tool }) =>
  tool && mayUse(credential.role, tool.kind)
    ? undefined
    : refuse('ROLE_MAY_NOT', `The ${credential.role} role may not use ${tool?.name ?? 'this tool'}.`);
