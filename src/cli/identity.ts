import { Argument, Command } from 'commander';
import type { Store } from '../app/store.ts';
import type { Config } from '../config/config.ts';
import { OpsError } from '../core/errors.ts';
import { type Role, roles } from '../core/incident.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { createIdentities, type Identity } from '../safety/vault/identities.ts';
import { openVaultKey } from '../safety/vault/vault-key.ts';
import { printList } from './print-list.ts';
import { operator, withStore } from './with-store.ts';

const identitiesOf = ({ sql }: Store, { dataDir, vaultKey }: Config) =>
  createIdentities({ sql, audit: createAuditLog(sql), key: openVaultKey(dataDir, vaultKey) });

const list = new Command('list')
  .description('Who acts: the identities of roles and processes, newest first.')
  .option('--all', 'also those that sign no more', false)
  .option('--json', 'one JSON line each', false)
  .action(async ({ all, json }: { readonly all: boolean; readonly json: boolean }) => {
    const found = await withStore((store, config) => identitiesOf(store, config).list({ all }));
    printList(found, json, lineOf);
  });

function lineOf({ id, kind, name, createdAt, rotatedAt, revokedAt, revokedBy, reason }: Identity): string {
  const standing = revokedAt
    ? `revoked ${revokedAt} by ${revokedBy}: ${reason}`
    : rotatedAt
      ? `rotated ${rotatedAt}`
      : 'signs';
  return `${id}  ${kind.padEnd(7)}  ${name}  since ${createdAt}  ${standing}`;
}

const rotate = new Command('rotate')
  .description('Give a role a new key pair; what the old one signed runs out within 15 minutes.')
  .addArgument(new Argument('<role>').choices(roles))
  .action(async (role: Role) => {
    const id = await withStore((store, config) => identitiesOf(store, config).rotate(role, operator()));
    process.stdout.write(`${role}: ${id} signs from now on.\n`);
  });

const revoke = new Command('revoke')
  .description('Nothing signed by this identity is good any more, in any process, at once.')
  .argument('<id>', 'nhi_…, as listed')
  .option('--reason <text>', 'why, for the audit log', '')
  .action(async (id: string, { reason }: { readonly reason: string }) => {
    const done = await withStore((store, config) =>
      identitiesOf(store, config).revoke(id, operator(), reason),
    );
    if (!done)
      throw new OpsError('NOT_FOUND', `There is no live identity ${id}.`, {
        hint: 'sentry identity list shows them.',
      });
    process.stdout.write(`${id} is revoked. A role gets a new one by sentry identity rotate <role>.\n`);
  });

export const identityCommand = new Command('identity')
  .description('The identities of roles and processes: list, rotate, revoke.')
  .addCommand(list)
  .addCommand(rotate)
  .addCommand(revoke);
