import { defineKind } from '../kind.ts';
import { applyPatch } from './active/apply-patch.ts';
import { restartServiceTool } from './active/restart-service.ts';
import { undoPatchTool } from './active/undo-patch.ts';
import { adviseHost } from './advise.ts';
import { hostFields, readHost } from './config.ts';
import { connectHost } from './connect/connect-host.ts';
import { checkHost } from './doctor.ts';
import { hostFacts } from './facts.ts';
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
  connect(config, { ownPorts }) {
    const system = connectHost(config, { deniedPorts: ownPorts });
    return {
      system,
      // The machine, as far as a rebuilt one is another; a host has no timelines.
      identity: async () => ({ systemIdentifier: await system.machine.identity(), timelineId: 0 }),
      close: () => system.machine.close(),
    };
  },
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
