import { z } from 'zod';

/** https://docs.github.com/en/rest/commits/commits, with the fields that are read. */
export const GitHubCommit = z.object({
  sha: z.string(),
  commit: z.object({
    message: z.string(),
    author: z.object({ name: z.string().nullish() }).nullish(),
    committer: z.object({ date: z.string().nullish() }).nullish(),
  }),
  parents: z.array(z.unknown()).default([]),
  files: z.array(z.object({ filename: z.string() })).nullish(),
});
export type GitHubCommit = z.infer<typeof GitHubCommit>;

const ComparedFile = z.object({
  filename: z.string(),
  previous_filename: z.string().nullish(),
  status: z.string(),
  additions: z.number(),
  deletions: z.number(),
  patch: z.string().nullish(),
});
export type ComparedFile = z.infer<typeof ComparedFile>;

/** https://docs.github.com/en/rest/commits/commits#compare-two-commits */
export const Comparison = z.object({
  status: z.enum(['ahead', 'behind', 'diverged', 'identical']),
  ahead_by: z.number(),
  behind_by: z.number(),
  total_commits: z.number(),
  commits: z.array(GitHubCommit).default([]),
  files: z.array(ComparedFile).nullish(),
});
export type Comparison = z.infer<typeof Comparison>;

/** https://docs.github.com/en/rest/git/trees#get-a-tree */
export const Tree = z.object({
  tree: z.array(
    z.object({
      path: z.string(),
      mode: z.string(),
      type: z.string(),
      sha: z.string(),
      size: z.number().nullish(),
    }),
  ),
});

/** https://docs.github.com/en/rest/git/blobs#get-a-blob */
export const Blob = z.object({ content: z.string(), encoding: z.literal('base64') });

export const Place = z.object({ default_branch: z.string() });
export const BranchHeads = z.array(z.object({ name: z.string() }));

/** https://docs.github.com/en/graphql/reference/objects#blame */
export const Blame = z.object({
  data: z.object({
    repository: z.object({
      object: z.object({
        blame: z.object({
          ranges: z.array(
            z.object({
              startingLine: z.number(),
              endingLine: z.number(),
              commit: z.object({
                oid: z.string(),
                messageHeadline: z.string(),
                committedDate: z.string(),
                author: z.object({ name: z.string().nullish() }).nullish(),
              }),
            }),
          ),
        }),
      }),
    }),
  }),
});
