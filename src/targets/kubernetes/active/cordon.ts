import { z } from 'zod';
import type { Verbs } from '../../../core/action.ts';
import { count } from '../../../core/count.ts';
import { OpsError } from '../../../core/errors.ts';
import { bootClock } from '../../boot-clock.ts';
import { nodeTroubles } from '../describe.ts';
import type { Node, Pod } from '../objects.ts';
import { kubernetesTool, mayAct, objectName } from '../tool.ts';
import { change, GUARDED, onlyUid, present, rehearse } from './guard.ts';

interface Input {
  readonly node: string;
  readonly uid?: string | undefined;
}

/** What must not have moved: this very node, and whether it takes new pods. */
type Guard = { readonly uid: string; readonly name: string; readonly unschedulable: boolean };

/** What differs between keeping new pods off a node and letting them on again. */
interface Act {
  readonly name: 'cordon' | 'uncordon';
  readonly description: string;
  readonly verbs: Verbs;
  /** Whether it takes no new pods afterwards. */
  readonly to: boolean;
  readonly did: string;
  readonly blastRadius: string;
  readonly inverse: Act['name'];
}

const acts: readonly Act[] = [
  {
    name: 'cordon',
    description:
      'Keeps new pods off a node; those that run there stay. For a node that is ill, so that nothing else is put on it.',
    verbs: {
      does: 'Cordon',
      did: 'Cordoned',
      button: 'Cordon the node',
      frees: 'New pods from a node that is not well.',
      costs: 'They wait for room elsewhere.',
    },
    to: true,
    did: 'takes no new pods',
    blastRadius:
      'Pods of every namespace that would be put there wait for room elsewhere. Those that run there stay.',
    inverse: 'uncordon',
  },
  {
    name: 'uncordon',
    description: 'Lets a cordoned node take new pods again.',
    verbs: {
      does: 'Uncordon',
      did: 'Uncordoned',
      button: 'Uncordon the node',
      frees: 'Pods that wait for room.',
      costs: 'They land there, whether the node is well or not.',
    },
    to: false,
    did: 'takes new pods again',
    blastRadius: 'Pods of every namespace may be put there. Nothing that runs is moved.',
    inverse: 'cordon',
  },
];

const isCordoned = ({ spec }: Node): boolean => spec?.unschedulable === true;

/** Keeping new pods off a node, and letting them on again. */
export const cordonTools = acts.map(cordonTool);

function cordonTool({ name, description, verbs, to, did, blastRadius, inverse }: Act) {
  const values = () => ({ '/spec/unschedulable': to });
  return kubernetesTool.active<Input, Guard>({
    name: `kubernetes_${name}`,
    description,
    kind: 'active',
    verbs,
    input: z.strictObject({ node: objectName, uid: onlyUid }),
    timeoutMs: 20_000,
    command: ({ node }) => `kubectl ${name} ${node}`,
    rules: (context) => mayAct(context),
    async preflight(context, { node: which, uid }) {
      const { cluster, namespaces } = context.system;
      const ref = { kind: 'node', name: which } as const;
      const node = await present<Node>(cluster, { ...ref, uid }, context);
      if (isCordoned(node) === to)
        throw new OpsError('GONE', `${which} ${to ? 'is cordoned' : 'takes new pods'} already.`, {
          hint: 'Look at it again.',
        });
      const [pods] = await Promise.all([
        Promise.all(namespaces.map((namespace) => cluster.list<Pod>('pod', { namespace }, context))),
        rehearse<Node>(context, { ref, values }),
      ]);
      const here = pods.flatMap(({ items }) => items).filter(({ spec }) => spec.nodeName === which).length;
      const troubles = nodeTroubles(node).filter((line) => !line.startsWith('cordoned'));
      return {
        guard: { uid: node.metadata.uid, name: which, unschedulable: isCordoned(node) },
        clock: bootClock(),
        lines: [
          `node ${which}: ${troubles.join('; ') || 'ready'}`,
          `${count(here, 'pod')} of the namespaces under care ${here === 1 ? 'is' : 'are'} there`,
          GUARDED,
        ],
        blastRadius,
        undo: `${inverse === 'cordon' ? 'Cordon' : 'Uncordon'} it again.`,
        risk: 'medium',
        losesNothing: true,
        ...(!to && troubles.length > 0 ? { objection: `${which} is not well: ${troubles.join('; ')}` } : {}),
      };
    },
    objects: (_input, { name: which }) => [{ kind: 'node', key: which, label: `node ${which}` }],
    run: (context, { node: which }, guard, deadline) =>
      change<Node>(
        context,
        {
          ref: { kind: 'node', name: which },
          moved: (node) =>
            node.metadata.uid === guard.uid && isCordoned(node) === guard.unschedulable
              ? undefined
              : `${which} is not as it was any more.`,
          values,
        },
        deadline,
        { text: `${which} ${did}.`, data: { node: which, uid: guard.uid } },
      ),
    async look({ system, ...options }, { node: which }) {
      const node = await system.cluster.get<Node>({ kind: 'node', name: which }, options);
      return isCordoned(node) === to ? 'done' : 'not_done';
    },
    subject: ({ node: which }) => ({ kind: 'name', name: which }),
    inverse: (data) => ({ tool: `kubernetes_${inverse}`, input: data }),
    effect: ({ node: which }) => ({
      steps: [
        {
          tool: 'kubernetes_nodes',
          input: { node: which },
          holds: `result.cordoned == ${to ? 1 : 0}`,
          says: `${which} ${did}`,
        },
      ],
      holdMs: 1_000,
      timeoutMs: 30_000,
    }),
  });
}
