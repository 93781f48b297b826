import { z } from 'zod';
import { refuse } from '../../core/errors.ts';
import { toolsOf } from '../../tools/define.ts';
import type { Engine } from './engine.ts';

/** What the tools of one kind of engine work with. */
export interface ContainerSystem {
  readonly engine: Engine;
  /** Whether changes may be proposed. */
  readonly acts: boolean;
  /** Whether only some of its containers are under care: what is the whole engine's is then left alone. */
  readonly isPartial: boolean;
}

/** How the tools of container engines are made: one set for all of them, as they speak one API. */
export const containerTool = toolsOf<ContainerSystem>(['docker', 'podman'], 'any');

/** https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerCreate; nothing else goes into a path of the API. */
export const containerName = z
  .string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/, 'expected the name or the id of a container')
  .describe('Name or id of a container.');

/** For the rules of what changes anything. */
export const mayAct = ({
  target,
  system,
}: {
  readonly target: { readonly name: string };
  readonly system: ContainerSystem;
}) =>
  system.acts
    ? undefined
    : refuse(
        'ENGINE_READ_ONLY',
        `${target.name} may only be read: set "acts: true" for it in sentry.yaml to have changes proposed.`,
      );
