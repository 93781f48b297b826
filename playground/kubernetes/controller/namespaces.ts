import { resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';

const accounts = resource('serviceaccounts');

/** Gives each namespace what every one is born with. */
export function createNamespaceController({ store, registry }: ControlPlane): Controller {
  return () => {
    for (const { metadata } of store.list(resource('namespaces'))) {
      const { name, deletionTimestamp } = metadata;
      const isThere = store.get(accounts, name, 'default') !== undefined;
      if (!isThere && deletionTimestamp === undefined) {
        registry.create(accounts, { metadata: { name: 'default', namespace: name } });
      }
    }
  };
}
