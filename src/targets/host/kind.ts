import { defineKind } from '../kind.ts';
import { applyPatch } from './active/apply-patch.ts';
import { restartServiceTool } from './active/restart-service.ts';
import { undoPatchTool } from './active/undo-patch.ts';
import { adviseHost } from './advise.ts';
import { type HostConfig, hostFields, NO_PATCH_OVER_SSH, readHost } from './config.ts';
import { connectHost } from './connect/connect-host.ts';
import { localMachine } from './connect/local-machine.ts';
import { sshMachine } from './connect/ssh/remote-machine.ts';
import { checkHost } from './doctor.ts';
import { hostFacts } from './facts.ts';
import { hostInventory } from './inventory.ts';
import { certificates } from './read/certificates.ts';
import { compareFiles } from './read/compare-files.ts';
import { fileSystems } from './read/file-systems.ts';
import { grepSearch } from './read/grep-search.ts';
import { hostUsage } from './read/host-usage.ts';
import { listFiles } from './read/list-files.ts';
import { listeningPorts } from './read/listening-ports.ts';
import { readFile } from './read/read-file.ts';
import { runDiagnostics } from './read/run-diagnostics.ts';
import { serviceReachable } from './read/service-reachable.ts';
import { serviceStatus } from './read/service-status.ts';
import type { SshTarget } from './ssh-config.ts';
import type { Host } from './system.ts';
import { hostUsual } from './usual.ts';

export const host = defineKind<HostConfig, Host>({
  name: 'host',
  plural: 'hosts',
  // Whatever is not known better runs on some host.
  domains: [{ name: 'docker', label: null }],
  fields: hostFields,
  read: readHost,
  settings: ({ roots, services, watch, ssh }) => ({
    ...(ssh ? { ssh: sshSettings(ssh) } : {}),
    reads: roots.map(({ path }) => path),
    patches: roots.filter(({ patch }) => patch).map(({ path }) => path),
    restarts: services.map(({ name }) => name),
    watches: watch.map(({ from }) => (from.kind === 'file' ? from.path : from.unit)),
  }),
  // This machine is read as Sentry's own account.
  reader: ({ ssh }) => ssh?.user ?? null,
  connect(config, { ownPorts }) {
    const machine = config.ssh ? sshMachine(config.ssh) : localMachine;
    const system = connectHost(config, { machine, deniedPorts: ownPorts });
    return {
      system,
      // The machine, as far as a rebuilt one is another; a host has no timelines.
      identity: async () => ({ systemIdentifier: await system.machine.identity(), timelineId: 0 }),
      close: () => system.machine.close(),
    };
  },
  doctor: (config, { system }) => checkHost(config, system),
  refuses: ({ ssh }) => (ssh ? { apply_patch: NO_PATCH_OVER_SSH, undo_patch: NO_PATCH_OVER_SSH } : {}),
  facts: hostFacts,
  inventory: hostInventory,
  usual: hostUsual,
  watch: () => null,
  logs: (_, { logs }) => logs,
  advise: adviseHost,
  looks: [
    { tool: 'service_status', why: 'How the services are' },
    { tool: 'list_files', why: 'How full the disk is, and the largest files' },
  ],
  tools: [
    readFile,
    grepSearch,
    listFiles,
    compareFiles,
    serviceStatus,
    serviceReachable,
    hostUsage,
    fileSystems,
    listeningPorts,
    certificates,
    runDiagnostics,
    applyPatch,
    undoPatchTool,
    restartServiceTool,
  ],
});

/** In one line, as people compare it with what they know. */
function sshSettings({ jump, hostKeys, sudo, ...login }: SshTarget): string {
  const at = ({ host, port, user }: Pick<SshTarget, 'host' | 'port' | 'user'>) => `${user}@${host}:${port}`;
  const keys = hostKeys.map(({ fingerprint }) => fingerprint).join(' or ');
  return `${at(login)} with ${keys}${jump ? ` through ${at(jump)}` : ''}${sudo ? ', restarts by sudo' : ''}`;
}
