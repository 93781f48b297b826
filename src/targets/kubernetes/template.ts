import type { Json } from '../../core/tool-call.ts';
import { redactJson } from '../../safety/screen/redact.ts';
import { sha256 } from '../../safety/sha256.ts';
import { oneLine } from '../format.ts';
import type { ContainerSpec, PodTemplate } from './objects.ts';

/** Names after which a value is not shown, whatever it looks like. */
const SECRET_NAME =
  /(?:^|[^a-z])(?:pass|passwd|password|pwd|secret|token|credentials?|(?:private|api|access|encryption|signing)[-_. ]?key|apikey)(?:$|[^a-z])/i;

/** A value beside its name as it may be shown. */
export function shownValue(name: string, value: string): string {
  if (SECRET_NAME.test(name)) return '(not shown)';
  const shown = redactJson({ [name]: value }) as Readonly<Record<string, string>>;
  return Object.values(shown)[0] ?? '(not shown)';
}

/** As `kubectl rollout restart` writes it. */
export const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';
/** Which state Sentry has restarted: tells its own restart from everybody else's when the answer was lost. */
export const RESTART_OF = 'sentry-oncall/restart-of';

/** Labels that controllers write, and annotations of a restart: they are no change of what runs. */
const HASHES = new Set(['pod-template-hash', 'controller-revision-hash']);
const RESTARTS = new Set([RESTARTED_AT, RESTART_OF]);

const without = (names: ReadonlySet<string>, map: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(Object.entries(map).filter(([name]) => !names.has(name)));

/** What runs, without what controllers write: the same for two revisions of the same content. */
function contentOf({ metadata, spec }: PodTemplate, withRestarts: boolean): Json {
  return {
    labels: without(HASHES, metadata?.labels),
    annotations: without(withRestarts ? new Set() : RESTARTS, metadata?.annotations),
    ...(spec as unknown as { [key: string]: Json }),
  };
}

/** Short, and the same whenever the content is, restarts included: what an approval is bound to. */
export const templateHash = (template: PodTemplate): string =>
  sha256(JSON.stringify(sorted(contentOf(template, true)))).slice(0, 16);

/**
 * The same for two templates that differ only in images, environment and resources, which are told by themselves, and in when they
 * were restarted.
 */
export function restHash(template: PodTemplate): string {
  const bare = (containers: readonly ContainerSpec[] = []) =>
    containers.map(({ image: _image, env: _env, resources: _resources, ...rest }) => rest);
  const { containers, initContainers, ...spec } = template.spec;
  const rest = { ...spec, containers: bare(containers), initContainers: bare(initContainers) };
  const content = contentOf({ ...template, spec: rest }, false);
  return sha256(JSON.stringify(sorted(content))).slice(0, 16);
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((each: Json) => sorted(each));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value as { readonly [key: string]: Json })
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

/**
 * What differs between two templates, a line each: `containers.web.image: shop:1 → shop:2`. Things that have a name are
 * compared by it, wherever they stand in their list. Values that may be secrets are not shown, but that they differ is.
 */
export function templateDiff(before: PodTemplate, after: PodTemplate): readonly string[] {
  const [old, now] = [flat(contentOf(before, false)), flat(contentOf(after, false))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((path) => old.get(path) !== now.get(path))
    .map((path) => {
      const name = path.endsWith('.value')
        ? (path.split('.').at(-2) ?? path)
        : (path.split('.').at(-1) ?? path);
      const [was, is] = [old.get(path), now.get(path)].map((value) =>
        value === undefined ? undefined : oneLine(shownValue(name, value)),
      );
      if (was === undefined) return `${path}: ${is} (added)`;
      if (is === undefined) return `${path}: ${was} (removed)`;
      return was === is ? `${path}: changed, ${is}` : `${path}: ${was} → ${is}`;
    });
}

/** Every value by its path; `named`: the name is in the path already. */
function flat(
  value: Json,
  path = '',
  into = new Map<string, string>(),
  named?: string,
): ReadonlyMap<string, string> {
  const below = (key: string) => (path === '' ? key : `${path}.${key}`);
  if (Array.isArray(value))
    for (const [at, each] of value.entries()) {
      const name = nameIn(each as Json);
      flat(each as Json, below(name ?? String(at)), into, name);
    }
  else if (value !== null && typeof value === 'object')
    for (const [key, each] of Object.entries(value as { readonly [key: string]: Json })) {
      if (key !== 'name' || named === undefined) flat(each, below(key), into);
    }
  else into.set(path, typeof value === 'string' ? value : JSON.stringify(value));
  return into;
}

function nameIn(value: Json): string | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const { name } = value as { readonly name?: Json };
  return typeof name === 'string' ? name : undefined;
}
