import { randomBytes } from 'node:crypto';
import { unauthorized } from '../registry/api-error.ts';
import type { User } from './rbac.ts';

export type UserName = 'admin' | 'read' | 'act';

const serviceAccount = (name: string): User => ({
  name: `system:serviceaccount:sentry:${name}`,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:sentry', 'system:authenticated'],
});

/** The service accounts are those of deploy/kubernetes. */
const users: Readonly<Record<UserName, User>> = {
  admin: { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
  read: serviceAccount('sentry-read'),
  act: serviceAccount('sentry-act'),
};

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

export interface Identities {
  readonly token: (user: UserName) => string;
  /** Who sends this header; throws 401 for a token that is nobody's. */
  readonly authenticate: (authorization: string | undefined) => User;
}

export type Tokens = Readonly<Record<UserName, string>>;

const newToken = () => randomBytes(24).toString('base64url');

/** Of a cluster of its own: none of another time or place opens it. */
export const newTokens = (): Tokens => ({ admin: newToken(), read: newToken(), act: newToken() });

export function createIdentities(tokens: Tokens): Identities {
  const byToken = new Map(Object.entries(tokens).map(([name, token]) => [token, users[name as UserName]]));
  return {
    token: (user) => tokens[user],
    authenticate(authorization) {
      if (authorization === undefined) return anonymous;
      const user = byToken.get(authorization.replace(/^Bearer /, ''));
      if (user === undefined) throw unauthorized();
      return user;
    },
  };
}
