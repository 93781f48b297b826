import { z } from 'zod';
import { allowedHost } from '../safety/urls/allowed-hosts.ts';
import type { ConfigFile } from './config-file.ts';

/** Where somebody else tells how their service is: a page of Statuspage, as most are. */
export interface StatusPage {
  readonly name: string;
  /** In its ASCII form: `www.githubstatus.com`. */
  readonly host: string;
}

/** Of `sentry.yaml`. */
export const statusPageFields = {
  status_pages: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[\w][\w .-]{0,39}$/, 'expected a plain name of at most 40 characters'),
        host: z.string().transform((host, context) => {
          // A parser of hosts drops what stands behind one.
          const ascii = /[^\p{L}\p{N}.-]/u.test(host) ? undefined : allowedHost(host);
          if (ascii !== undefined) return ascii;
          context.addIssue('expected the name of a public host, such as www.githubstatus.com');
          return z.NEVER;
        }),
      }),
    )
    .max(10, 'at most 10 status pages')
    .nullish()
    .transform((given) => given ?? []),
};

/** Of a file that has been found to be right. */
export const statusPagesOf = ({ raw }: ConfigFile): readonly StatusPage[] =>
  z.object(statusPageFields).parse(raw ?? {}).status_pages;
