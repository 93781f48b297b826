import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Metadata, StoredObject, Wire } from '../objects.ts';
import { badRequest } from './api-error.ts';

type Labels = Readonly<Record<string, string>>;
type Matches = (labels: Labels) => boolean;

/** `app=shop,tier in (web, api),!legacy` of a query. */
export function parseLabelSelector(text: string): Matches {
  const terms = text
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '')
    .map(labelTerm);
  return (labels) => terms.every((matches) => matches(labels));
}

function labelTerm(term: string): Matches {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = list.split(',').map((each) => each.trim());
    return operator === 'in'
      ? (labels) => labels[key] !== undefined && values.includes(labels[key])
      : (labels) => labels[key] === undefined || !values.includes(labels[key]);
  }
  const equality = /^([^\s!=]+)\s*(==|=|!=)\s*(\S*)$/.exec(term);
  if (equality !== null) {
    const [, key = '', operator, value] = equality;
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  if (/^![^\s!=]+$/.test(term)) return (labels) => labels[term.slice(1)] === undefined;
  if (/^[^\s!=()]+$/.test(term)) return (labels) => labels[term] !== undefined;
  throw badRequest(`unable to parse requirement: found '${term}', expected: in, notin, =, ==, !=, gt, lt`);
}

/** The selector of an object. An empty one matches everything, none at all nothing. */
export function matchesSelector(
  selector: Wire<V1LabelSelector> | undefined,
  labels: Labels | undefined,
): boolean {
  if (selector === undefined) return false;
  const own = labels ?? {};
  return (
    matchesLabels(selector.matchLabels, own) &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = own[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      return value !== undefined && values.includes(value);
    })
  );
}

export const matchesLabels = (wanted: Labels | undefined, labels: Labels | undefined): boolean =>
  Object.entries(wanted ?? {}).every(([key, value]) => labels?.[key] === value);

/** Fields by which the real server lets lists be narrowed, beside name and namespace. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  Pod: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
    'status.podIP',
  ],
  Event: [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'source',
    'type',
    'reportingComponent',
  ],
  Node: ['spec.unschedulable'],
  Namespace: ['status.phase'],
  ReplicaSet: ['status.replicas'],
  Job: ['status.successful'],
  Secret: ['type'],
};

/** `status.phase!=Running,spec.nodeName=node-1` of a query. */
export function parseFieldSelector(text: string, kind: string): (object: StoredObject) => boolean {
  const terms = text
    .split(',')
    .filter((term) => term !== '')
    .map((term) => {
      const [, field = '', operator, value] = /^([^!=]+)(==|=|!=)(.*)$/.exec(term) ?? [];
      if (operator === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      if (!['metadata.name', 'metadata.namespace', ...(selectable[kind] ?? [])].includes(field)) {
        throw badRequest(`field label not supported: ${field}`);
      }
      return (object: StoredObject) => (fieldOf(object, field) === value) === (operator !== '!=');
    });
  return (object) => terms.every((matches) => matches(object));
}

function fieldOf(object: StoredObject, field: string): string {
  const event = object as { source?: { component?: string }; reportingComponent?: string };
  if (field === 'source') return event.source?.component ?? event.reportingComponent ?? '';
  let value: unknown = object;
  for (const part of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  // A field that is not set is the zero value of its type.
  if (value === undefined) return field === 'spec.unschedulable' ? 'false' : '';
  return String(value);
}

export const labelsOf = ({ metadata }: { metadata?: Partial<Metadata> }): Labels => metadata?.labels ?? {};
