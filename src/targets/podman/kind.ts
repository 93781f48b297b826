import { containerKind } from '../containers/kind.ts';
import { podmanPods } from './pods.ts';

/** The part of https://docs.podman.io/en/latest/_static/api.html#tag/system/operation/SystemInfoLibpod that names it. */
interface Info {
  readonly host: { readonly hostname: string };
  readonly store: { readonly graphRoot: string };
}

export const podman = containerKind({
  name: 'podman',
  plural: 'Podman engines',
  domains: [{ name: 'podman', label: ['container_runtime', 'podman'] }],
  socket: '/run/podman/podman.sock',
  tailsWell: false,
  // Under cgroup v1 it does not.
  tellsOom: false,
  // Its ID in the API of Docker is another one at each question; its storage is where its containers are.
  identify: async (engine, options) => {
    const { host, store } = await engine.get<Info>('/v4.0.0/libpod/info', 'who it is', options);
    return `podman:${host.hostname}:${store.graphRoot}`;
  },
  own: [podmanPods],
});
