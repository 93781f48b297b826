import { z } from 'zod';
import { OpsError } from '../../../core/errors.ts';
import { bootClock } from '../../boot-clock.ts';
import { bytes } from '../../format.ts';
import { containerLine, limitsText } from '../describe.ts';
import type { Container } from '../engine.ts';
import { containerName, containerTool, mayAct } from '../tool.ts';
import { actOn, type ContainerGuard, containerObject, guardOf, present } from './guard.ts';

const MiB = 1024 * 1024;

interface Input {
  readonly container: string;
  readonly memory_mib?: number | undefined;
  readonly cpus?: number | undefined;
}

type Guard = ContainerGuard & { readonly memory_mib: number | null; readonly cpus: number | null };

const limitsOf = ({ memoryLimit, cpuLimit }: Container) => ({
  memory_mib: memoryLimit === null ? null : Math.round(memoryLimit / MiB),
  cpus: cpuLimit,
});

/** Changes the limits of a container, which count at once and until it is made anew. */
export const updateLimits = containerTool.active<Input, Guard>({
  name: 'container_update',
  description:
    'Changes the memory limit (MiB) or the CPU limit of one container, at once and without a restart; a container that is made anew has its declared limits again. Only for one that has such a limit. For one that runs out of memory with a limit that is too low for its work.',
  kind: 'active',
  editable: ['memory_mib', 'cpus'],
  verbs: {
    does: 'Change the limits of',
    did: 'Changed the limits of',
    button: 'Change the limits',
    frees: 'What runs into the limits of now.',
    costs: 'Less for itself or for its neighbours.',
  },
  input: z
    .strictObject({
      container: containerName,
      memory_mib: z.number().int().min(6).max(1_048_576).optional(),
      cpus: z.number().min(0.01).max(512).optional(),
    })
    .refine(
      ({ memory_mib, cpus }) => memory_mib !== undefined || cpus !== undefined,
      'name a limit to change',
    ),
  timeoutMs: 20_000,
  command: ({ container, memory_mib, cpus }) =>
    [
      'container update',
      ...(memory_mib === undefined ? [] : [`--memory ${memory_mib}m --memory-swap ${memory_mib}m`]),
      ...(cpus === undefined ? [] : [`--cpus ${cpus}`]),
      container,
    ].join(' '),
  rules: (context) => mayAct(context),
  async preflight(context, { container: name, memory_mib, cpus }) {
    const { engine } = context.system;
    const container = await present(engine, name, context);
    const before = limitsOf(container);
    // What had no limit cannot be given back none: it would not be taken back exactly.
    if (
      (memory_mib !== undefined && before.memory_mib === null) ||
      (cpus !== undefined && before.cpus === null)
    )
      throw new OpsError('GONE', `${container.name} has no such limit now (${limitsText(container)}).`, {
        hint: 'A limit that is not there can be no fault of it.',
      });
    const lower =
      (memory_mib ?? Infinity) < (before.memory_mib ?? 0) || (cpus ?? Infinity) < (before.cpus ?? 0);
    return {
      guard: { ...guardOf(container), ...before },
      clock: bootClock(),
      lines: [containerLine(container), `limits now: ${limitsText(container)}`],
      blastRadius: lower
        ? 'What uses more than the new limit is slowed down or killed.'
        : 'The machine has that much less for everything else.',
      undo: `Set it back: ${limitsText(container)}.`,
      risk: lower ? 'high' : 'medium',
      losesNothing: !lower,
    };
  },
  objects: containerObject,
  async run(
    context,
    { container: name, memory_mib, cpus },
    { memory_mib: memory, cpus: cpu, ...guard },
    deadline,
  ) {
    const now = limitsOf(await present(context.system.engine, guard.id, context));
    if (now.memory_mib !== memory || now.cpus !== cpu)
      return { kind: 'failed', text: `Nothing was done: the limits of ${name} are not what they were.` };
    const body = {
      ...(memory_mib === undefined ? {} : { Memory: memory_mib * MiB, MemorySwap: memory_mib * MiB }),
      ...(cpus === undefined ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
    };
    const before = {
      container: name,
      ...(memory_mib === undefined || memory === null ? {} : { memory_mib: memory }),
      ...(cpus === undefined || cpu === null ? {} : { cpus: cpu }),
    };
    const said = [
      ...(memory_mib === undefined ? [] : [`memory ${bytes(memory_mib * MiB)}`]),
      ...(cpus === undefined ? [] : [`${cpus} CPUs`]),
    ].join(', ');
    return actOn(
      context,
      guard,
      deadline,
      (engine, id) => engine.post(`/containers/${id}/update`, 'to change its limits', context, { body }),
      { text: `${name} has new limits: ${said}.`, data: before },
      // Its risk follows from its limits alone, which the guard has.
      () => 'low',
    );
  },
  async look({ system, ...options }, { memory_mib, cpus }, guard) {
    const now = limitsOf(await system.engine.container(guard.id, options));
    return (memory_mib ?? now.memory_mib) === now.memory_mib && (cpus ?? now.cpus) === now.cpus
      ? 'done'
      : 'not_done';
  },
  subject: ({ container: name }) => ({ kind: 'name', name }),
  inverse: (data) => ({ tool: 'container_update', input: data }),
  effect: ({ container: name, memory_mib, cpus }) => ({
    steps: [
      {
        tool: 'container_inspect',
        input: { container: name },
        holds: [
          ...(memory_mib === undefined ? [] : [`result.memory_limit == ${memory_mib * MiB}`]),
          ...(cpus === undefined ? [] : [`result.cpu_limit == ${cpus}`]),
        ].join(' && '),
        says: `${name} has the new limits`,
      },
    ],
    holdMs: 1_000,
    timeoutMs: 30_000,
  }),
});
