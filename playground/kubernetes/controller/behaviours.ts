import type { Container, Metadata } from '../objects.ts';
import { quantity } from '../registry/quantity.ts';

/**
 * No image is run: how a container behaves is told by the last word of its image's tag (`shop/orders:2.4.0-crash`), or by
 * the annotation `playground.sentry/behaviour: crash` of its pod, which comes first and may change while the pod runs.
 *
 * | word         | what the container does |
 * |--------------|-------------------------|
 * | none         | starts within a second, becomes ready, runs |
 * | `crash`      | says why and exits with 1, a second after its start |
 * | `exit7`      | the same with another exit code |
 * | `needsURL`   | runs if its environment has a value for URL; else says so and exits with 1 |
 * | `done`       | works for two seconds and exits with 0 |
 * | `leak`       | grows until it is killed for the memory limit it has (137, OOMKilled); without a limit it runs |
 * | `uses300Mi`  | needs that much memory at once: killed where its limit is lower |
 * | `unready`    | runs, and fails its readiness probe |
 * | `unlive`     | runs, and fails its liveness probe |
 * | `slow`       | becomes ready after half a minute |
 * | `missing`    | its image cannot be pulled: there is none of that name |
 * | `private`    | its image cannot be pulled: the registry refuses |
 *
 * Nodes have the annotation, too: `down` stops its kubelet, `memory-pressure` and `disk-pressure` are what they say.
 */
export const BEHAVIOUR = 'playground.sentry/behaviour';

export interface Behaviour {
  /** Why its image cannot be pulled, in containerd's words. */
  readonly pullError?: string;
  /** How it ends by itself, and how long after its start. */
  readonly end?: { readonly afterMs: number; readonly exitCode: number; readonly reason: string };
  readonly readyAfterMs: number;
  readonly isLive: boolean;
  /** What it writes when it starts, and before it ends. */
  readonly says: { readonly first: readonly string[]; readonly last: readonly string[] };
}

const SECOND = 1000;

export function behaviourOf(container: Container, pod: Pick<Metadata, 'annotations'>): Behaviour {
  const image = container.image ?? '';
  const word = pod.annotations?.[BEHAVIOUR] ?? lastWord(image);
  const [, verb = '', amount = ''] = /^([a-z]+)(.*)$/.exec(word) ?? [];
  const healthy: Behaviour = {
    readyAfterMs: SECOND,
    isLive: true,
    says: {
      first: [`${container.name}: starting ${image}`, `${container.name}: listening on :8080`],
      last: [],
    },
  };
  return { ...healthy, ...behaviours[verb]?.(container, amount, image) };
}

const lastWord = (image: string) => /:(?:.*-)?([^:/-]+)$/.exec(image)?.[1] ?? '';

const behaviours: Readonly<
  Record<string, (container: Container, amount: string, image: string) => Partial<Behaviour>>
> = {
  crash: (container) => exits(container, 1),
  exit: (container, amount) => exits(container, Number(amount) || 1),
  needs: (container, variable) => (hasVariable(container, variable) ? {} : exits(container, 1, variable)),
  done: ({ name }) => ({
    end: { afterMs: 2 * SECOND, exitCode: 0, reason: 'Completed' },
    says: { first: [`${name}: at work`], last: [`${name}: done`] },
  }),
  leak: (container) => (memoryLimit(container) === undefined ? {} : killedForMemory(container, 3 * SECOND)),
  uses: (container, amount) =>
    (memoryLimit(container) ?? Number.POSITIVE_INFINITY) < quantity(amount)
      ? killedForMemory(container, SECOND)
      : {},
  unready: () => ({ readyAfterMs: Number.POSITIVE_INFINITY }),
  unlive: () => ({ isLive: false }),
  slow: () => ({ readyAfterMs: 30 * SECOND }),
  missing: (_container, _amount, image) => ({
    pullError: `failed to pull and unpack image "docker.io/${image}": failed to resolve reference "docker.io/${image}": docker.io/${image}: not found`,
  }),
  private: (_container, _amount, image) => ({
    pullError: `failed to pull and unpack image "docker.io/${image}": failed to resolve reference "docker.io/${image}": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`,
  }),
};

const hasVariable = ({ env = [] }: Container, variable: string) =>
  env.some(
    ({ name, value, valueFrom }) => name === variable && (valueFrom !== undefined || (value ?? '') !== ''),
  );

function exits({ name }: Container, exitCode: number, setting = 'payments.endpoint'): Partial<Behaviour> {
  return {
    end: { afterMs: SECOND, exitCode, reason: 'Error' },
    readyAfterMs: Number.POSITIVE_INFINITY,
    says: {
      first: [`${name}: starting`],
      last: [`${name}: fatal: cannot read setting "${setting}": it is empty`, `${name}: exit ${exitCode}`],
    },
  };
}

function killedForMemory({ name }: Container, afterMs: number): Partial<Behaviour> {
  return {
    end: { afterMs, exitCode: 137, reason: 'OOMKilled' },
    // The kernel asks nobody: what it said before is all there is.
    says: { first: [`${name}: starting`, `${name}: loading the catalogue into memory`], last: [] },
  };
}

const memoryLimit = ({ resources }: Container): number | undefined =>
  resources?.limits?.['memory'] === undefined ? undefined : quantity(resources.limits['memory']);

const MiB = 1024 ** 2;

/** What a container uses, in bytes: what its tag says, or half of what it asked for. */
export function memoryOf(container: Container): number {
  const [, used] = /^uses(.+)$/.exec(lastWord(container.image ?? '')) ?? [];
  return used === undefined
    ? (quantity(container.resources?.requests?.['memory']) || 64 * MiB) / 2
    : quantity(used);
}
