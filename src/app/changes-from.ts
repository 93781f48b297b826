import type { ConfigFile } from '../config/config-file.ts';
import { wrong } from '../config/wrong.ts';
import type { ApiToken } from '../core/api-token.ts';
import { closestName } from '../core/closest-name.ts';
import { apiPrincipal } from '../core/principal.ts';
import { alertSources } from '../sources/registry.ts';
import type { TargetConfig } from '../targets/kind.ts';

/**
 * `changes_from` of the targets of a file: a name that nobody tells of changes under would keep every change out. After `addMappings`.
 * Throws OpsError CONFIG, a line each.
 */
export function checkChangesFrom(
  read: () => Pick<ConfigFile, 'placeOf'>,
  targets: readonly Pick<TargetConfig, 'name' | 'changesFrom'>[],
  tokens: readonly ApiToken[],
): void {
  const known = [
    ...alertSources.filter(({ changes }) => changes !== undefined).map(({ name }) => name),
    ...tokens.filter(({ scopes }) => scopes.includes('changes')).map(({ name }) => apiPrincipal(name)),
  ];
  const faults = targets.flatMap(({ name, changesFrom = [] }, at) =>
    changesFrom.flatMap((source, n) =>
      known.includes(source)
        ? []
        : [{ path: ['targets', at, 'changes_from', n], says: `target "${name}": ${unknown(source, known)}` }],
    ),
  );
  if (faults.length === 0) return;
  const { placeOf } = read();
  throw wrong(faults.map(({ path, says }) => `${placeOf(path)}: ${says}`));
}

function unknown(source: string, known: readonly string[]): string {
  const meant = closestName(source, known);
  const or = meant === null ? '; docs/changes.md lists those that there are' : `; did you mean "${meant}"?`;
  return `changes_from: nobody tells of changes as "${source.slice(0, 80)}"${or}`;
}
