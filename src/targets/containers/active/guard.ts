import { type ActionOutcome, isRiskier, type Risk } from '../../../core/action.ts';
import type { TouchedObject } from '../../../core/denial.ts';
import { messageOf, OpsError } from '../../../core/errors.ts';
import type { Json } from '../../../core/tool-call.ts';
import type { Deadline, ToolContext } from '../../../tools/define.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { bootClock, passed } from '../../boot-clock.ts';
import type { Container, Engine } from '../engine.ts';
import type { ContainerSystem } from '../tool.ts';

/** What must not have moved: this very container, this start of it, its state. Another one of the same name is another one. */
export type ContainerGuard = {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly started_at: string | null;
  readonly restarts: number;
};

/** A container that keeps dying has another start at every look: what is held against it is that it keeps dying. */
export const guardOf = ({ id, name, state, startedAt, restarts, upSeconds }: Container): ContainerGuard => ({
  id,
  name,
  ...(isFlapping(state, restarts, upSeconds)
    ? { state: 'restarting', started_at: null, restarts: 0 }
    : { state, started_at: startedAt, restarts }),
});

const isFlapping = (state: string, restarts: number, upSeconds: number | null): boolean =>
  state === 'restarting' || (restarts > 0 && upSeconds !== null && upSeconds < 60);

/** The container to change. Throws OpsError GONE when there is none of that name. */
export async function present(engine: Engine, name: string, options: SessionOptions): Promise<Container> {
  try {
    return await engine.container(name, options);
  } catch (error) {
    if (error instanceof OpsError && error.code === 'ENGINE_NOT_FOUND')
      throw new OpsError('GONE', `There is no container ${name}.`, {
        hint: 'List the containers.',
        cause: error,
      });
    throw error;
  }
}

/** The name outlives a container that is made anew: who said No to it meant what is called so. */
export const containerObject = (
  _input: unknown,
  { name }: { readonly name: string },
): readonly TouchedObject[] => [{ kind: 'container', key: `container ${name}`, label: `container ${name}` }];

/**
 * Does it, if the container is still as it was approved and the deadline has not passed. An engine cannot check that in the
 * statement that acts: what changes in the moment between this look and its answer is not seen.
 */
export async function actOn(
  context: ToolContext<ContainerSystem>,
  guard: ContainerGuard,
  deadline: Deadline,
  act: (engine: Engine, id: string) => Promise<unknown>,
  done: { readonly text: string; readonly data: Json },
  riskOf: (container: Container) => Risk,
): Promise<ActionOutcome> {
  const { engine } = context.system;
  const container = await present(engine, guard.id, context);
  const now = guardOf(container);
  if (now.name !== guard.name)
    return { kind: 'failed', text: `Nothing was done: ${guard.name} is called ${now.name} by now.` };
  if (now.state !== guard.state || now.started_at !== guard.started_at || now.restarts !== guard.restarts)
    return {
      kind: 'failed',
      text: `Nothing was done: ${guard.name} is ${now.state} by now, and was ${guard.state}.`,
    };
  const risk = riskOf(container);
  if (deadline.risk !== undefined && isRiskier(risk, deadline.risk))
    return {
      kind: 'failed',
      text: `Nothing was done: it is of ${risk} risk by now, and was approved as one of ${deadline.risk} risk.`,
    };
  if (passed(bootClock(), deadline))
    return { kind: 'failed', text: 'Nothing was done: the deadline had passed.' };
  try {
    await act(engine, guard.id);
    return { kind: 'succeeded', ...done };
  } catch (error) {
    const text = messageOf(error);
    // An answer that refuses is a certain *no effect*; silence leaves it open.
    return error instanceof OpsError && /^ENGINE_(?:4\d\d|DENIED|NOT_FOUND)$/.test(error.code)
      ? { kind: 'failed', text: `Nothing was done: ${text}` }
      : { kind: 'unknown', text };
  }
}
