import { isDeepStrictEqual } from 'node:util';
import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Container, Pod, PodTemplate, StoredObject, Wire } from '../objects.ts';
import type { Resource } from '../resources.ts';
import { invalid, type StatusCause } from './api-error.ts';
import { isQuantity, quantity } from './quantity.ts';
import { labelsOf, matchesSelector } from './selectors.ts';

type Workload = StoredObject & {
  spec?: { replicas?: number; selector?: unknown; template?: PodTemplate; schedule?: string };
};

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The mistakes that clients make most; throws 422 with all of them. */
export function validateCreate(resource: Resource, object: StoredObject): void {
  refuse(resource, object, [...nameCauses(resource, object), ...specCauses(resource, object)]);
}

export function validateUpdate(resource: Resource, before: StoredObject, after: StoredObject): void {
  refuse(resource, after, [...specCauses(resource, after), ...fixedCauses(resource, before, after)]);
}

function refuse(resource: Resource, object: StoredObject, causes: readonly StatusCause[]): void {
  if (causes.length > 0) throw invalid(resource, object.metadata.name, causes);
}

const required = (field: string, detail = ''): StatusCause => ({
  reason: 'FieldValueRequired',
  message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  field,
});

const wrong = (field: string, value: unknown, detail: string): StatusCause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value)}: ${detail}`,
  field,
});

function nameCauses(resource: Resource, { metadata }: StoredObject): StatusCause[] {
  if (metadata.name === '') return [required('metadata.name', 'name or generateName is required')];
  // The names of roles are paths, not host names.
  if (resource.group === 'rbac.authorization.k8s.io' || subdomain.test(metadata.name)) return [];
  return [
    wrong(
      'metadata.name',
      metadata.name,
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ),
  ];
}

function specCauses(resource: Resource, object: StoredObject): StatusCause[] {
  if (resource.kind === 'Pod') return containersCauses('spec', (object as Pod).spec);
  const { spec } = object as Workload;
  const causes: StatusCause[] = [];
  if (spec?.replicas !== undefined && spec.replicas < 0) {
    causes.push(wrong('spec.replicas', spec.replicas, 'must be greater than or equal to 0'));
  }
  if (spec?.template !== undefined) {
    causes.push(
      ...selectorCauses(resource, spec),
      ...containersCauses('spec.template.spec', spec.template.spec),
    );
  }
  return causes;
}

function selectorCauses(resource: Resource, spec: NonNullable<Workload['spec']>): StatusCause[] {
  if (resource.kind === 'ReplicationController') return [];
  const selector = spec.selector as Wire<V1LabelSelector> | undefined;
  if (selector === undefined) return [required('spec.selector')];
  const labels = labelsOf(spec.template ?? {});
  if (matchesSelector(selector, labels)) return [];
  return [wrong('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

function containersCauses(
  path: string,
  spec: { containers?: readonly Container[] } | undefined,
): StatusCause[] {
  const containers = spec?.containers ?? [];
  if (containers.length === 0) return [required(`${path}.containers`)];
  return containers.flatMap((each, at) => containerCauses(`${path}.containers[${at}]`, each));
}

function containerCauses(path: string, { name, image, resources }: Container): StatusCause[] {
  const causes: StatusCause[] = [];
  if (name === undefined || name === '') causes.push(required(`${path}.name`));
  if (image === undefined || image === '') causes.push(required(`${path}.image`));
  const { requests = {}, limits = {} } = resources ?? {};
  for (const [part, amounts] of Object.entries({ requests, limits })) {
    for (const [each, amount] of Object.entries(amounts)) {
      if (isQuantity(amount)) continue;
      const detail =
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
      causes.push(wrong(`${path}.resources.${part}.${each}`, amount, detail));
    }
  }
  if (causes.length > 0) return causes;
  for (const [each, amount] of Object.entries(requests)) {
    const limit = limits[each];
    if (limit !== undefined && quantity(amount) > quantity(limit)) {
      causes.push(
        wrong(
          `${path}.resources.requests`,
          amount,
          `must be less than or equal to ${each} limit of ${limit}`,
        ),
      );
    }
  }
  return causes;
}

function fixedCauses(resource: Resource, before: StoredObject, after: StoredObject): StatusCause[] {
  if (resource.kind === 'Pod') return podCauses(before as Pod, after as Pod);
  if (!['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'].includes(resource.kind)) return [];
  const selector = (after as Workload).spec?.selector;
  if (isDeepStrictEqual((before as Workload).spec?.selector, selector)) return [];
  return [wrong('spec.selector', selector, 'field is immutable')];
}

/** Of a pod that is there, hardly anything but an image may be changed. */
function podCauses(before: Pod, after: Pod): StatusCause[] {
  const fixed = ({ spec }: Pod) => ({
    ...spec,
    activeDeadlineSeconds: 0,
    terminationGracePeriodSeconds: 0,
    tolerations: [],
    containers: spec.containers.map((each) => ({ ...each, image: '' })),
    initContainers: (spec.initContainers ?? []).map((each) => ({ ...each, image: '' })),
  });
  if (isDeepStrictEqual(fixed(before), fixed(after))) return [];
  return [
    {
      reason: 'FieldValueForbidden',
      message:
        'Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
      field: 'spec',
    },
  ];
}
