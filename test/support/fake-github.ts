import { execFileSync } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** GitHub's API over a repository on this machine, as https://docs.github.com/en/rest describes what Sentry asks of it. */
export interface FakeGitHub {
  readonly api: string;
  readonly token: string;
  /** `GET /repos/shop/shop-api/commits/main`, as they came. */
  readonly asked: readonly string[];
  /** What the next answers are instead, by status; null: as they are. */
  answerWith(
    instead: { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | null,
  ): void;
  stop(): Promise<void>;
}

/** @param path a repository with all objects; those that no branch or tag has are a fork's, for which GitHub answers as well */
export async function fakeGitHub(path: string): Promise<FakeGitHub> {
  const token = 'of-a-test-of-github';
  const asked: string[] = [];
  let instead: { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | null = null;
  const server = createServer((request, response) => {
    void (async () => {
      asked.push(`${request.method} ${request.url}`);
      if (instead !== null) {
        response.writeHead(instead.status, { ...instead.headers }).end('{}');
        return;
      }
      const answer =
        request.headers.authorization === `Bearer ${token}` ? await answerTo(path, request) : { status: 401 };
      const { status, body } = { body: { message: 'no' } as unknown, ...answer };
      response
        .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    api: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`,
    token,
    asked,
    answerWith: (given) => {
      instead = given;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Answer = { readonly status: number; readonly body?: unknown };
const found = (body: unknown): Answer => ({ status: 200, body });
const NOT_FOUND: Answer = { status: 404 };

/** The repository stays as it is while it is served. */
const outputs = new Map<string, string>();

async function answerTo(path: string, request: IncomingMessage): Promise<Answer> {
  const git = (...args: readonly string[]): string => {
    const key = [path, ...args].join('\0');
    const before = outputs.get(key);
    if (before !== undefined) return before;
    const output = execFileSync('git', args, {
      cwd: path,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1e8,
    });
    outputs.set(key, output);
    return output;
  };
  const shaOf = (name: string): string | null => {
    try {
      return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).trim();
    } catch {
      return null;
    }
  };
  /** GitHub reads `tags/x` and `heads/x`, a hash, or the name of a branch. */
  const resolved = (ref: string): string | null =>
    /^(?:tags|heads)\//.test(ref)
      ? shaOf(`refs/${ref}`)
      : /^[0-9a-f]{7,40}$/.test(ref)
        ? shaOf(ref)
        : shaOf(`refs/heads/${ref}`);
  const url = new URL(request.url ?? '/', 'http://github.test');
  if (url.pathname === '/api/graphql') return blame(git, JSON.parse(await text(request)));
  const [, below] = /^\/api\/v3\/repos\/shop\/shop-api(\/.*)?$/.exec(decodeURIComponent(url.pathname)) ?? [];
  if (below === undefined)
    return url.pathname === '/api/v3/repos/shop/shop-api' ? found({ default_branch: 'main' }) : NOT_FOUND;
  const param = (name: string): string | null => url.searchParams.get(name);
  const perPage = Math.min(100, Number(param('per_page') ?? 30));
  const page = Number(param('page') ?? 1);
  const pageOf = <T>(all: readonly T[]): readonly T[] => all.slice((page - 1) * perPage, page * perPage);
  const commitsOf = (args: readonly string[]): readonly string[] =>
    git('rev-list', ...args)
      .split('\n')
      .filter(Boolean);

  const [, heads] = /^\/commits\/([0-9a-f]+)\/branches-where-head$/.exec(below) ?? [];
  if (heads !== undefined) {
    const names = git('for-each-ref', `--points-at=${heads}`, '--format=%(refname:lstrip=2)', 'refs/heads');
    return found(
      names
        .split('\n')
        .filter(Boolean)
        .map((name) => ({ name })),
    );
  }
  const [, ref] = /^\/commits\/(.+)$/.exec(below) ?? [];
  if (ref !== undefined) {
    const sha = resolved(ref);
    return sha === null
      ? { status: 422 }
      : found({ ...commit(git, sha), files: filesOf(git, `${sha}^`, sha) });
  }
  if (below === '/commits') {
    const sha = resolved(param('sha') ?? 'main');
    if (sha === null) return NOT_FOUND;
    const bounds = ['since', 'until'].flatMap((name) =>
      param(name) === null ? [] : [`--${name}=${param(name)}`],
    );
    const paths = param('path') === null ? [] : [param('path') ?? ''];
    return found(pageOf(commitsOf([...bounds, sha, '--', ...paths])).map((one) => commit(git, one)));
  }
  const [, base, head] = /^\/compare\/(.+?)\.\.\.(.+)$/.exec(below) ?? [];
  if (base !== undefined && head !== undefined) {
    const [from, to] = [resolved(base), resolved(head)];
    if (from === null || to === null) return NOT_FOUND;
    const common = git('merge-base', from, to).trim();
    const [behind, ahead] = git('rev-list', '--left-right', '--count', `${from}...${to}`)
      .trim()
      .split('\t')
      .map(Number);
    const commits = commitsOf(['--reverse', `${from}..${to}`]);
    return found({
      status: from === to ? 'identical' : common === from ? 'ahead' : common === to ? 'behind' : 'diverged',
      ahead_by: ahead,
      behind_by: behind,
      total_commits: commits.length,
      commits: pageOf(commits).map((one) => commit(git, one)),
      ...(page === 1 ? { files: filesOf(git, common, to).slice(0, 300) } : {}),
    });
  }
  const [, tree] = /^\/git\/trees\/([0-9a-f]+)$/.exec(below) ?? [];
  if (tree !== undefined) {
    const listed = git('ls-tree', '-l', '-z', ...(param('recursive') ? ['-r', '-t'] : []), tree)
      .split('\0')
      .filter(Boolean);
    return found({
      sha: tree,
      truncated: false,
      tree: listed.map((one) => {
        const [, mode, type, sha, size, name] = /^(\d+) (\w+) (\w+) +(\S+)\t(.*)$/s.exec(one) ?? [];
        return { path: name, mode, type, sha, ...(size === '-' ? {} : { size: Number(size) }) };
      }),
    });
  }
  const [, blob] = /^\/git\/blobs\/([0-9a-f]+)$/.exec(below) ?? [];
  if (blob !== undefined) {
    const content = execFileSync('git', ['cat-file', 'blob', blob], { cwd: path }).toString('base64');
    // In lines of 60, as GitHub gives it.
    return found({ sha: blob, encoding: 'base64', content: content.replace(/.{60}/g, '$&\n') });
  }
  return NOT_FOUND;
}

type Git = (...args: readonly string[]) => string;

function commit(git: Git, sha: string) {
  const [name, date, parents, message] = git('show', '-s', '--format=%an%x00%cI%x00%P%x00%B', sha).split(
    '\0',
  );
  return {
    sha,
    commit: {
      message: message?.trim() ?? '',
      author: { name, email: 'a@shop.example', date },
      committer: { name, email: 'a@shop.example', date },
    },
    author: null,
    parents: parents
      ?.split(' ')
      .filter(Boolean)
      .map((parent) => ({ sha: parent })),
  };
}

const statusOf: Readonly<Record<string, string>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  T: 'changed',
};

function filesOf(git: Git, from: string, to: string) {
  let raw: string;
  try {
    raw = git('diff-tree', '-r', '-M', '--name-status', '-z', from, to);
  } catch {
    // Of the first commit.
    raw = git('diff-tree', '-r', '--root', '--no-commit-id', '--name-status', '-z', to);
    return raw
      .split('\0')
      .filter((_, n) => n % 2 === 1)
      .map((filename) => ({ filename, status: 'added', additions: 0, deletions: 0 }));
  }
  const parts = raw.split('\0');
  const files = [];
  for (let at = 0; at + 1 < parts.length; at += 1) {
    const letter = parts[at]?.[0] ?? '';
    const was = letter === 'R' ? parts[(at += 1)] : undefined;
    const filename = parts[(at += 1)] ?? '';
    const both = ['-M', from, to, '--', ...(was === undefined ? [] : [was]), filename];
    const [additions, deletions] = git('diff-tree', '-r', '--numstat', ...both).split('\t');
    const patch = git('diff-tree', '-r', '-p', ...both);
    const hunks = patch.search(/^@@ /m);
    files.push({
      filename,
      ...(was === undefined ? {} : { previous_filename: was }),
      status: statusOf[letter],
      additions: Number(additions) || 0,
      deletions: Number(deletions) || 0,
      // GitHub leaves it out of what is binary or large.
      ...(hunks < 0 || patch.length > 1_000_000 ? {} : { patch: patch.slice(hunks).replace(/\n$/, '') }),
    });
  }
  return files;
}

function blame(
  git: Git,
  { query, variables }: { readonly query: string; readonly variables: Readonly<Record<string, string>> },
): Answer {
  const { owner, repo, sha = '', path = '' } = variables;
  if (owner !== 'shop' || repo !== 'shop-api' || !query.includes('blame(path: $path)'))
    return found({ data: { repository: null }, errors: [{ message: 'Could not resolve to a Repository' }] });
  const lines = git('blame', '-l', '-s', '--root', sha, '--', path).split('\n').filter(Boolean);
  return found({
    data: {
      repository: {
        object: {
          blame: {
            ranges: lines.map((line, n) => {
              const { sha: oid, commit: of } = commit(git, line.split(' ')[0] ?? '');
              return {
                startingLine: n + 1,
                endingLine: n + 1,
                commit: {
                  oid,
                  messageHeadline: of.message.split('\n')[0],
                  committedDate: of.committer.date,
                  author: { name: of.author.name },
                },
              };
            }),
          },
        },
      },
    },
  });
}
