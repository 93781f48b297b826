/** Not files but the kernel's and other processes' state: descriptors, memory, devices, environments. */
const systemFolders = ['/proc', '/sys', '/dev', '/run/user', '/run/udev'] as const;

/** Whether a resolved absolute path lies in a file system that is made of something else than files. */
export function inSystemFolder(resolved: string): boolean {
  return systemFolders.some((folder) => isInside(folder, resolved));
}

/** Whether `path` is `root` or lies below it; both absolute, resolved, without a trailing slash. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root === '/' ? '/' : `${root}/`);
}
