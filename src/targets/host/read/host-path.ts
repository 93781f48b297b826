import { z } from 'zod';
import { orThrow, type Refusal, refuse } from '../../../core/errors.ts';
import { shellCharacter } from '../../../safety/inputs/clean-input.ts';
import type { ToolContext } from '../../../tools/define.ts';
import type { HostRoot } from '../config.ts';
import type { Host } from '../system.ts';

/** A path as tools take it. */
export const hostPath = z
  .string()
  .min(1)
  .max(1000)
  .describe('Absolute path below one of the target’s folders, or relative to its first folder.');

/** The folder a path belongs to. */
export interface RootedPath {
  readonly ok: true;
  readonly root: HostRoot;
  /** As `HostAccess` takes it beside `root.path`. */
  readonly path: string;
}

/** What of a tool's context tells of the host. */
export type HostContext = Pick<ToolContext<Host>, 'target' | 'system' | 'docs'>;

/**
 * Which of the host's folders a path belongs to: the deepest that it lies below; for a relative path the first in which it is
 * there, else the first. Refused by the path rules, before anything is opened.
 */
export async function placeOf(
  context: HostContext,
  path: string,
  may: (root: HostRoot) => boolean = () => true,
): Promise<RootedPath | Refusal> {
  const host = context.system;
  const mark = shellCharacter(path);
  if (mark !== undefined)
    return refuse('PATH_EXPANSION', `The path holds "${mark}"; nothing is expanded here.`);
  const roots = host.roots.filter(may);
  const candidates = path.startsWith('/')
    ? roots
        .filter((root) => path === root.path || path.startsWith(`${root.path}/`))
        .toSorted((a, b) => b.path.length - a.path.length)
    : roots;
  let first: RootedPath | Refusal | undefined;
  for (const root of candidates) {
    const checked = await host.access.check(root.path, path);
    const place: RootedPath | Refusal = checked.ok ? { ok: true, root, path } : checked;
    first ??= place;
    if (checked.ok && checked.kind !== 'missing') return place;
  }
  return first ?? outside(roots);
}

function outside(roots: readonly HostRoot[]): Refusal {
  const allowed = roots.map(({ path }) => path).join(', ');
  return refuse(
    'PATH_OUTSIDE',
    `The path is in none of the folders for this (${allowed || 'there are none'}).`,
  );
}

/** The place of a path; without one, all folders of the host. */
export async function rootedPathsOf(
  context: HostContext,
  path: string | undefined,
): Promise<readonly RootedPath[]> {
  if (path !== undefined) return [orThrow(await placeOf(context, path))];
  return context.system.roots.map((root) => ({ ok: true, root, path: '.' }));
}

/** The rule of a tool that takes one path. */
export async function pathRule(context: HostContext, path: string): Promise<Refusal | undefined> {
  const place = await placeOf(context, path);
  return place.ok ? undefined : place;
}
