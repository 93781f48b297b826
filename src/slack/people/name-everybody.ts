import type { UserDirectory } from './user-directory.ts';

/** A text with the name of everybody whom it names by id, as `<@U0123>`. */
export async function nameEverybody(directory: Pick<UserDirectory, 'name'>, text: string): Promise<string> {
  const ids = [...new Set([...text.matchAll(PERSON)].map(([, id = '']) => id))];
  const names = new Map(await Promise.all(ids.map(async (id) => [id, await directory.name(id)] as const)));
  return text.replace(PERSON, (_, id: string) => names.get(id) ?? id);
}

const PERSON = /<@([UW][A-Z0-9]+)>/g;
