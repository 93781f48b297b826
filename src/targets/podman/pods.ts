import { z } from 'zod';
import { count } from '../../core/count.ts';
import { toolsOf } from '../../tools/define.ts';
import type { ContainerSystem } from '../containers/tool.ts';
import { withoutBreaks } from '../format.ts';

/** https://docs.podman.io/en/latest/_static/api.html#tag/pods/operation/PodListLibpod */
interface Pod {
  readonly Name: string;
  readonly Status: string;
  readonly Containers: readonly { readonly Names: string; readonly Status: string }[];
}

/** The pods of Podman. Data: `{ pods: [{ name, state, containers: [{ name, state }] }] }`. */
export const podmanPods = toolsOf<ContainerSystem>('podman', 'podman').read({
  name: 'podman_pods',
  description:
    'The pods of Podman with the state of each and of its containers; a pod is degraded when one of its containers does not run.',
  kind: 'read',
  input: z.strictObject({}),
  timeoutMs: 10_000,
  async run(context) {
    const listed = await context.system.engine.get<readonly Pod[] | null>(
      '/v4.0.0/libpod/pods/json',
      'its pods',
      context,
    );
    const pods = (listed ?? []).map(({ Name: name, Status: state, Containers: containers }) => ({
      name,
      state: state.toLowerCase(),
      containers: containers.map((each) => ({ name: each.Names, state: each.Status.toLowerCase() })),
    }));
    return {
      text: [
        `${count(pods.length, 'pod')}.`,
        ...pods.map(
          ({ name, state, containers }) =>
            `${name}: ${state}; ${containers.map((each) => `${each.name} ${each.state}`).join(', ')}`,
        ),
      ]
        .map(withoutBreaks)
        .join('\n'),
      data: { pods },
    };
  },
});
