import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** machine-id(5): made at installation and kept; a rebuilt machine has another. The name where there is none. */
export function machineIdentity(): string {
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id'])
    if (existsSync(path)) {
      const id = readFileSync(path, 'utf8').trim();
      if (/^[0-9a-f]{32}$/.test(id)) return id;
    }
  return `host:${hostname()}`;
}
