import { basename } from 'node:path';
import type { ChangeKind } from '../../core/change.ts';
import { count } from '../../core/count.ts';
import type { Inventory, InventoryItem } from '../../core/inventory.ts';
import {
  digestOf,
  MOST_ITEMS,
  momentOf,
  namesValue,
  propertyOf,
  readInventory,
  shortName,
  type Thing,
  variableOf,
} from '../inventory-parts.ts';
import { composeOf, limitsText, shortId } from './describe.ts';
import type { Container, ListedContainers } from './engine.ts';
import type { ContainerSystem } from './tool.ts';

const WITHIN_MS = 10_000;
const ALL = 'containers';
/** Another part, as one that is missing here is not gone. */
const SOME = 'containers that could be read';
/** What Podman adds by itself; `HOSTNAME` is another one in each container. */
const OWN_VARIABLES = new Set(['HOSTNAME', 'container']);

/**
 * What the containers of an engine are made of, and the engine's version. A start, a stop and a restart change nothing of it; one that
 * was made anew says since when it is. Values of environment variables are digests, as no tool shows them either.
 */
export function containersInventory({ engine }: ContainerSystem, signal: AbortSignal): Promise<Inventory> {
  const options = { signal, timeoutMs: WITHIN_MS };
  return readInventory([
    { parts: [ALL], read: async () => inventoryOf(await engine.containers(options)) },
    {
      parts: ['engine'],
      read: async () => ({ items: [engineItem(await engine.version(options))], unread: [] }),
    },
  ]);
}

const engineItem = (value: string): InventoryItem => ({
  part: 'engine',
  key: 'engine version',
  name: 'engine',
  kind: 'infrastructure',
  value,
  objects: [],
  mayComeAndGo: false,
});

function inventoryOf({ found, unread, beyond }: ListedContainers): Inventory {
  const missing = unread.length + beyond;
  const kept = found.filter(isMadeToStay).map((container) => ({
    container,
    thing: thingOf(container, missing > 0 ? SOME : ALL),
  }));
  const items = kept.flatMap(({ container, thing }) => [
    containerItem(container, thing),
    ...settingsOf(container, thing),
  ]);
  const variables = kept.flatMap(({ container, thing }) =>
    [...variablesOf(container)].map(([name, value]) => variableOf(thing, name, digestOf(value))),
  );
  const tooMany = items.length + variables.length >= MOST_ITEMS;
  return {
    items: tooMany ? items : [...items, ...variables],
    unread: [
      ...(missing > 0 ? [{ part: ALL, why: `${count(missing, 'container')} could not be looked at` }] : []),
      ...(tooMany ? [{ part: 'values of variables', why: 'there are more than are compared' }] : []),
    ],
  };
}

/**
 * Whether it is made to stay: jobs remove themselves, Compose runs them as one-off, Kubernetes makes and removes containers all the
 * time, and what Compose is about to replace has its id before its name for a moment.
 */
function isMadeToStay({ name, labels, raw }: Container): boolean {
  return !(
    raw.HostConfig.AutoRemove ||
    labels['com.docker.compose.oneoff'] === 'True' ||
    Object.hasOwn(labels, 'io.kubernetes.pod.name') ||
    /^[0-9a-f]{12}_/.test(name)
  );
}

function thingOf(container: Container, part: string): Thing {
  const { service } = composeOf(container);
  const { name, createdAt } = container;
  const since = momentOf(createdAt);
  return {
    part,
    key: `container ${name}`,
    name,
    objects: [...new Set([name, ...(service === null ? [] : [shortName(service)])])],
    ...(since === undefined ? {} : { since }),
  };
}

/** Its coming and going, and that it was made anew, be it from the same things. */
const containerItem = ({ name, createdAt }: Container, thing: Thing): InventoryItem => ({
  ...thing,
  name,
  kind: 'infrastructure',
  value: createdAt,
  mayComeAndGo: thing.part === ALL,
  told: { changed: 'was recreated', came: 'was created', went: 'was removed' },
});

/** Compose makes a service anew for most of them, yet networks and limits can be changed in place. */
function settingsOf(container: Container, thing: Thing): readonly InventoryItem[] {
  const { image, imageId, restartPolicy, raw } = container;
  const setting = (kind: ChangeKind, property: string, value: string) =>
    propertyOf(thing, kind, property, value);
  return [
    setting('deployment', 'image', `${image} (${shortId(imageId).slice(0, 7)})`),
    setting('config', 'command', commandText(container)),
    setting('config', 'limits', limitsText(container)),
    setting('config', 'restart policy', restartPolicy),
    setting('config', 'health check', healthCheckText(container)),
    setting('config', 'networks', namesValue(Object.keys(raw.NetworkSettings.Networks ?? {}))),
    setting('config', 'mounts', namesValue(mountTexts(container))),
    setting('config', 'published ports', namesValue(portTexts(container))),
    setting('config', 'variables', namesValue([...variablesOf(container).keys()])),
  ];
}

/** Its arguments may hold a password. */
const commandText = ({ raw }: Container): string =>
  `${basename(raw.Path)} (${digestOf(JSON.stringify([raw.Path, ...raw.Args]))})`;

function healthCheckText({ raw }: Container): string {
  const { Healthcheck: check } = raw.Config;
  return check?.Test?.length ? digestOf(JSON.stringify(check)) : 'none';
}

/** A volume without a name of its own is another one in each container. */
const mountTexts = ({ raw }: Container): readonly string[] =>
  raw.Mounts.map(({ Name: name, Source: source, Destination: inside, RW: writable }) => {
    const from = name === undefined ? source : /^[0-9a-f]{64}$/.test(name) ? 'a volume' : name;
    return `${from} → ${inside}${writable ? '' : ' (read only)'}`;
  });

type Bindings = Readonly<
  Record<string, readonly { readonly HostIp?: string; readonly HostPort?: string }[] | null>
>;

/** As they were asked for: while it is stopped, none is bound. */
const portTexts = ({ raw }: Container): readonly string[] =>
  Object.entries((raw.HostConfig.PortBindings ?? {}) as Bindings).flatMap(([inside, bound]) =>
    (bound ?? []).map(
      ({ HostIp: ip, HostPort: port }) => `${ip || '0.0.0.0'}:${port || 'any port'} → ${inside}`,
    ),
  );

function variablesOf({ raw }: Container): ReadonlyMap<string, string> {
  const pairs = (raw.Config.Env ?? []).map((entry): [string, string] => {
    const [name = ''] = entry.split('=', 1);
    return [name, entry.slice(name.length + 1)];
  });
  return new Map(pairs.filter(([name]) => !OWN_VARIABLES.has(name)));
}
