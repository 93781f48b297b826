import type { BlamedLine, Commit, FileChange } from '../repository.ts';

/**
 * What `git log -z --name-only` prints in the format `%H%x00%cI%x00%an%x00%s%x00`: four texts and the names of files, up to an empty
 * one. No text of a commit holds a NUL, so none can be taken for two.
 */
export function commitsIn(text: string): readonly Commit[] {
  const parts = text.split('\0');
  const commits: Commit[] = [];
  let at = 0;
  while (at + 3 < parts.length) {
    const [sha = '', when = '', by = '', title = ''] = parts.slice(at, at + 4);
    const end = parts.indexOf('', at + 4);
    const files = parts.slice(at + 4, end < 0 ? parts.length : end);
    commits.push({ sha, at: when, by, title, files: files.map((file) => file.replace(/^\n/, '')) });
    at = end < 0 ? parts.length : end + 1;
  }
  return commits;
}

const states: Readonly<Record<string, FileChange['status']>> = { A: 'added', D: 'removed', R: 'renamed' };

type Told = Omit<FileChange, 'hunks'>;

/** What `git diff-tree --raw --numstat -z` prints: all the states, then all the numbers. */
export function changedFiles(text: string): readonly Told[] {
  const parts = text.split('\0');
  const found = new Map<string, Told>();
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    if (part.startsWith(':')) {
      const letter = part.split(' ').at(-1)?.[0] ?? '';
      const was = letter === 'R' ? parts[(at += 1)] : undefined;
      const path = parts[(at += 1)] ?? '';
      const status = states[letter] ?? 'changed';
      found.set(path, { path, ...(was === undefined ? {} : { was }), status, added: null, removed: null });
      continue;
    }
    const [, added, removed, named = ''] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(part) ?? [];
    if (added === undefined) continue;
    // Of one that was renamed both names follow.
    const path = named === '' ? (parts[(at += 2)] ?? '') : named;
    const file = found.get(path);
    if (file && added !== '-') found.set(path, { ...file, added: Number(added), removed: Number(removed) });
  }
  return [...found.values()];
}

/** The hunks of one file; null: there are none. */
export function hunksIn(patch: string): string | null {
  const from = patch.search(/^@@ /m);
  return from < 0 ? null : patch.slice(from);
}

/** What `git blame --line-porcelain` prints: for each line a head, what is known of its commit, and the line after a tab. */
export function blamedLines(text: string): readonly BlamedLine[] {
  const lines: BlamedLine[] = [];
  let known: Record<string, string> = {};
  let head: RegExpExecArray | null = null;
  for (const line of text.split('\n')) {
    if (line.startsWith('\t')) {
      const seconds = Number(known['committer-time'] ?? 0);
      lines.push({
        line: Number(head?.[2]),
        sha: head?.[1] ?? '',
        at: new Date(seconds * 1_000).toISOString(),
        by: known['author'] ?? '',
        title: known['summary'] ?? '',
      });
      known = {};
      head = null;
    } else if (head === null) head = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(line);
    else {
      const space = line.indexOf(' ');
      known[line.slice(0, space)] = line.slice(space + 1);
    }
  }
  return lines;
}
