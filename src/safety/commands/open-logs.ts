import { type Refusal, refuse } from '../../core/errors.ts';
import { type OpenedFile, openInside } from '../paths/open-inside.ts';
import type { AllowedCommand } from './decision.ts';
import { logRootOf, looksLikeLog } from './grammars/tail.ts';
import type { CommandPolicy, LogRoot } from './policy.ts';

/**
 * Opens the files of a command under the path rules. The child gets the descriptors, not the names, so nobody can swap
 * a file for a link after the check. On a refusal nothing stays open.
 */
export async function openLogs(
  command: AllowedCommand,
  policy: CommandPolicy,
): Promise<readonly OpenedFile[] | Refusal> {
  const opened: OpenedFile[] = [];
  for (const index of command.files) {
    const file = await openLog(command.argv[index] ?? '', policy);
    if (!file.ok) {
      await closeAll(opened);
      return file;
    }
    opened.push(file);
  }
  return opened;
}

export async function closeAll(files: readonly OpenedFile[]): Promise<void> {
  await Promise.all(files.map(({ handle }) => handle.close()));
}

async function openLog(path: string, policy: CommandPolicy): Promise<OpenedFile | Refusal> {
  const root = logRootOf(path, policy);
  if (!root) return refuseNoLogs(path);
  const file = await openInside(root.root, path);
  const refusal = file.ok ? refuseNoLog(root, path, file.resolved) : undefined;
  if (!file.ok || !refusal) return file;
  await file.handle.close();
  return refusal;
}

export function refuseNoLogs(path: string): Refusal {
  return refuse('PATH_OUTSIDE', `${path} is not in a folder of logs.`);
}

/** Where other things live, too, only what is a log by its resolved path is one. */
export function refuseNoLog(root: LogRoot, path: string, resolved: string): Refusal | undefined {
  return root.logsOnly && !looksLikeLog(resolved)
    ? refuse('PATH_OUTSIDE', `${path} leads to something that is not a log.`)
    : undefined;
}
