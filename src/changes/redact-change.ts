import type { Change, Commit } from '../core/change.ts';
import { redact } from '../safety/screen/redact.ts';

const screened = (text: string | null): string | null => text && redact(text);

/** As it may be stored, shown and given to a model: people put tokens into commit messages and addresses. */
export function redactChange(change: Change): Change {
  return {
    ...change,
    id: redact(change.id),
    title: redact(change.title),
    where: change.where.map(redact),
    environment: screened(change.environment),
    by: screened(change.by),
    from: screened(change.from),
    to: screened(change.to),
    commits: change.commits.map(redactCommit),
    url: screened(change.url),
  };
}

export const redactCommit = ({ sha, title, by, files }: Commit): Commit => ({
  sha: screened(sha),
  title: screened(title),
  by: screened(by),
  files: files.map(redact),
});
