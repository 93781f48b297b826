import type { Channels } from './channels.ts';
import type { UserDirectory } from './user-directory.ts';

interface Names {
  readonly directory: Pick<UserDirectory, 'name' | 'groupName'>;
  readonly channels: Pick<Channels, 'nameOf' | 'isPrivate'>;
}

/**
 * A text with the name of everybody and everything whom it names by id, as `<@U0123>`, `<!subteam^S0123>` or `<#C0123>`. Names ring
 * nobody, wherever the text is posted.
 */
export async function nameEverybody({ directory, channels }: Names, text: string): Promise<string> {
  const found = [...text.matchAll(MARKED)].map(
    ([mark, kind, id = '', label]) => [mark, kind, id, label] as const,
  );
  const named = found.map(async ([mark, kind, id, label]) => {
    if (kind === '@') return [mark, await directory.name(id)] as const;
    if (kind === '!subteam^') return [mark, `@${await directory.groupName(id)}`] as const;
    // As Slack does for whoever is not in it: people's own words may name one.
    if (channels.isPrivate(id)) return [mark, 'a private channel'] as const;
    return [mark, `#${channels.nameOf(id) ?? label ?? 'a channel'}`] as const;
  });
  const names = new Map(await Promise.all(named));
  return text.replace(MARKED, (mark) => names.get(mark) ?? mark);
}

const MARKED = /<(@(?=[UW])|!subteam\^(?=S)|#(?=[CG]))([A-Z0-9]{2,})(?:\|([^<>|]{1,80}))?>/g;
