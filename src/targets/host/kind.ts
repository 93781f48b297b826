import { defineKind } from '../kind.ts';
import { applyPatch } from './active/apply-patch.ts';
import { restartServiceTool } from './active/restart-service.ts';
import { undoPatchTool } from './active/undo-patch.ts';
import { adviseHost } from './advise.ts';
import { hostFields, readHost } from './config.ts';
import { machineIdentity } from './connect/host-identity.ts';
import { localHost } from './connect/local-host.ts';
import { checkHost } from './doctor.ts';
import { hostFacts } from './facts.ts';
import { compareFiles } from './read/compare-files.ts';
import { grepSearch } from './read/grep-search.ts';
import { listFiles } from './read/list-files.ts';
import { readFile } from './read/read-file.ts';
import { runDiagnostics } from './read/run-diagnostics.ts';
import { serviceReachable } from './read/service-reachable.ts';
import { serviceStatus } from './read/service-status.ts';

export const host = defineKind({
  name: 'host',
  plural: 'hosts',
  // Whatever is not known better runs on some host.
  domains: [{ name: 'docker', label: null }],
  fields: hostFields,
  read: readHost,
  settings: ({ roots, services, watch }) => ({
    reads: roots.map(({ path }) => path),
    patches: roots.filter(({ patch }) => patch).map(({ path }) => path),
    restarts: services.map(({ name }) => name),
    watches: watch.map(({ from }) => (from.kind === 'file' ? from.path : from.unit)),
  }),
  // Sentry reads a host as its own account.
  reader: () => null,
  connect: (config, { ownPorts }) => ({
    system: localHost(config, { deniedPorts: ownPorts }),
    // The machine, as far as a rebuilt one is another; a host has no timelines.
    identity: async () => ({ systemIdentifier: machineIdentity(), timelineId: 0 }),
    close: async () => undefined,
  }),
  doctor: (config, { system }) => checkHost(config, system),
  facts: hostFacts,
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
    runDiagnostics,
    applyPatch,
    undoPatchTool,
    restartServiceTool,
  ],
});
