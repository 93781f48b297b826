import { updateLimits } from '../containers/active/update.ts';
import { containerKind } from '../containers/kind.ts';

export const docker = containerKind({
  name: 'docker',
  plural: 'Docker engines',
  domains: [{ name: 'docker', label: ['container_runtime', 'docker'] }],
  socket: '/var/run/docker.sock',
  tailsWell: true,
  tellsOom: true,
  // Podman 4 goes on telling the limits that were declared, so that nobody could see the change.
  own: [updateLimits],
  // Made once for the data folder of the engine, so it lives as long as its containers.
  identify: async (engine, options) =>
    (await engine.get<{ readonly ID: string }>('/info', 'who it is', options)).ID,
});
