import type { InventoryItem } from '../../../core/inventory.ts';
import {
  digestOf,
  momentOf,
  namesValue,
  propertyOf,
  shortName,
  type Thing,
  variableOf,
} from '../../inventory-parts.ts';
import type { ResourceKind } from '../cluster.ts';
import type {
  Autoscaler,
  ContainerSpec,
  CronJob,
  EnvVar,
  KubernetesObject,
  PodTemplate,
  Workload,
} from '../objects.ts';
import { RESTARTED_AT, restHash, shownValue, templateHash } from '../template.ts';
import { controllerOf, type WorkloadKind } from '../workload.ts';
import { lastWrite } from './managed-fields.ts';

/** What a workload runs, and how. Its pods are none of it: they come and go. */
export function workloadItems(
  kind: WorkloadKind,
  workload: Workload,
  sets: readonly Workload[],
  part: string,
): readonly InventoryItem[] {
  const { template } = workload.spec;
  const set = kind === 'deployment' ? currentSet(workload, sets) : undefined;
  // A rollout back takes the old ReplicaSet up again, whose age says nothing of when.
  const isRollback = set?.metadata.annotations?.['deployment.kubernetes.io/revision-history'] !== undefined;
  const made = isRollback ? undefined : momentOf(set?.metadata.creationTimestamp);
  const thing = thingOf(kind, workload, part, {
    ...(made === undefined ? {} : { since: made }),
    ...lastWrite(workload, 'spec', 'template'),
  });
  const restartedAt = template.metadata?.annotations?.[RESTARTED_AT];
  return [
    existence(thing, workload),
    ...templateItems(thing, template, isRollback),
    {
      ...propertyOf(thing, 'deployment', 'pods', restartedAt ?? 'never'),
      told: { changed: 'were restarted by a rollout' },
    },
  ];
}

/** What a job runs at its times. */
export function cronJobItems(job: CronJob, part: string): readonly InventoryItem[] {
  const { schedule = '', suspend = false, jobTemplate } = job.spec;
  const thing = thingOf('cronjob', job, part, lastWrite(job, 'spec'));
  const template = jobTemplate?.spec?.template;
  return [
    existence(thing, job),
    propertyOf(thing, 'config', 'schedule', suspend ? `${schedule}, suspended` : schedule),
    ...(template === undefined ? [] : templateItems(thing, template, false)),
  ];
}

/** How many pods it is to have; nothing where that is not for people to say. */
export function replicasItem(
  kind: WorkloadKind,
  workload: Workload,
  scalers: readonly Autoscaler[],
  part: string,
): readonly InventoryItem[] {
  const isScaled = scalers.some(
    ({ spec: { scaleTargetRef: of } }) =>
      of.kind.toLowerCase() === kind && of.name === workload.metadata.name,
  );
  if (kind === 'daemonset' || isScaled) return [];
  const thing = thingOf(kind, workload, part, lastWrite(workload, 'spec', 'replicas'));
  return [propertyOf(thing, 'config', 'replicas', String(workload.spec.replicas ?? 1))];
}

/** By its name, and by which of that name it is: another namespace may have one, too. */
export const objectsOf = ({ metadata: { name, namespace } }: KubernetesObject): readonly string[] =>
  namespace === undefined ? [name] : [name, `${namespace}/${name}`];

/** Who takes variables or files from a config map: it is a change of theirs, too. */
export function usersOf(
  kind: ResourceKind,
  { metadata: { name } }: KubernetesObject,
  workloads: readonly { readonly workload: Workload }[],
  jobs: readonly CronJob[],
): readonly string[] {
  if (kind !== 'configmap') return [];
  return [
    ...workloads.map(({ workload }) => ({ user: workload, template: workload.spec.template })),
    ...jobs.map((job) => ({ user: job, template: job.spec.jobTemplate?.spec?.template })),
  ].flatMap(({ user, template }) => (template && uses(template, name) ? [user.metadata.name] : []));
}

function uses({ spec }: PodTemplate, configMap: string): boolean {
  return [
    ...containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(({ configMap: own, projected }) => [
      own?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ].includes(configMap);
}

const thingOf = (
  kind: WorkloadKind | 'cronjob',
  object: KubernetesObject,
  part: string,
  { since, by }: Pick<Thing, 'since' | 'by'>,
): Thing => ({
  part,
  key: `${kind} ${object.metadata.name}`,
  name: object.metadata.name,
  objects: objectsOf(object),
  ...(since === undefined ? {} : { since }),
  ...(by === undefined ? {} : { by: shortName(by) }),
});

/** Its coming and going; one that was deleted and made anew is another one. */
const existence = (thing: Thing, { metadata }: KubernetesObject): InventoryItem => ({
  ...thing,
  name: thing.key,
  kind: 'deployment',
  value: metadata.uid,
  mayComeAndGo: true,
  told: { changed: 'was deleted and made anew', came: 'was created', went: 'was deleted' },
});

function templateItems(thing: Thing, template: PodTemplate, isRollback: boolean): readonly InventoryItem[] {
  const containers = containersOf(template.spec);
  const [only, ...others] = containers;
  return [
    propertyOf(
      thing,
      isRollback ? 'rollback' : 'deployment',
      'image',
      only !== undefined && others.length === 0
        ? (only.image ?? '')
        : containers.map(({ name, image = '' }) => `${name} ${image}`).join(', '),
    ),
    ...containers.flatMap((container) => containerItems(thing, container, others.length === 0)),
    {
      ...propertyOf(thing, 'deployment', 'pod template', `#${restHash(template)}`),
      told: { changed: 'was changed' },
    },
  ];
}

/** `isOnly`: whose they are needs no telling. */
function containerItems(
  thing: Thing,
  { name, env = [], resources = {} }: ContainerSpec,
  isOnly: boolean,
): readonly InventoryItem[] {
  const of = (property: string): string => (isOnly ? property : `${property} (${name})`);
  const quantities = [
    ...Object.entries(resources.limits ?? {}).map(([of, is]) => `${of} at most ${is}`),
    ...Object.entries(resources.requests ?? {}).map(([of, is]) => `${of} ${is} requested`),
  ];
  return [
    propertyOf(thing, 'config', of('resources'), namesValue(quantities)),
    propertyOf(thing, 'config', of('variables'), namesValue(env.map((variable) => variable.name))),
    ...[...new Map(env.map((variable) => [variable.name, variable])).values()].map((variable) =>
      variableOf(thing, of(variable.name), variableText(variable)),
    ),
  ];
}

/** As tools show it: not what may be a secret. */
function variableText({ name, value, valueFrom }: EnvVar): string {
  const { configMapKeyRef: configMap, secretKeyRef: secret, fieldRef: field } = valueFrom ?? {};
  if (configMap !== undefined) return `key ${configMap.key} of config map ${configMap.name}`;
  if (secret !== undefined) return `key ${secret.key} of secret ${secret.name}`;
  if (field !== undefined) return field.fieldPath;
  if (value === undefined || value === '') return '';
  return shownValue(name, value) === value ? value : digestOf(value);
}

const containersOf = ({ containers, initContainers = [] }: PodTemplate['spec']): readonly ContainerSpec[] => [
  ...containers,
  ...initContainers,
];

/** The ReplicaSet of what it is to run now; undefined until its controller has made it. */
function currentSet(workload: Workload, sets: readonly Workload[]): Workload | undefined {
  const wanted = templateHash(workload.spec.template);
  return sets.find(
    (set) => controllerOf(set)?.uid === workload.metadata.uid && templateHash(set.spec.template) === wanted,
  );
}
