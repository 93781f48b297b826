import { messageOf } from './errors.ts';

/** What the system says of a file or the network by a code, in words; null: it is no such fault. */
export function systemFault(error: unknown): string | null {
  return reasons[(error as NodeJS.ErrnoException | undefined)?.code ?? ''] ?? null;
}

/** Why a file or folder could not be had: in words where they are known, as the system puts it otherwise. */
export const whyNot = (error: unknown): string => systemFault(error) ?? messageOf(error);

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'that is a folder, not a file',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EADDRINUSE: 'another program has it',
  EADDRNOTAVAIL: 'this machine has no such address',
  EHOSTUNREACH: 'that machine cannot be reached',
  ENETUNREACH: 'that network cannot be reached',
  ECONNRESET: 'the other side ended the connection',
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'the name cannot be looked up now',
  ECONNREFUSED: 'nothing listens there',
  ETIMEDOUT: 'nothing answers there',
};
