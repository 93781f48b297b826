import { closestName } from '../../../core/closest-name.ts';
import { count, countUpTo, upTo } from '../../../core/count.ts';
import { asIncidentId } from '../../../core/ids.ts';
import type { FoundMemory } from '../../../memory/context/find-memories.ts';
import type { MemoryDocument } from '../../../memory/documents/document.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { readableBy } from '../../people/access.ts';
import { messageUrl } from '../../people/identity.ts';
import { isAdminNow, readerHere } from '../../people/reader.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  heading,
  lineWith,
  link,
  list,
  moment,
  paragraph,
  prose,
  small,
  words,
} from '../../views/blocks/build.ts';
import { MEMORY_ACTIONS } from '../../views/blocks/promotion-card.ts';
import { cut, escape, oneLine } from '../../views/blocks/text.ts';
import { formatPrincipal } from '../../views/draw-options.ts';
import { trustLabels } from '../../views/memory-views.ts';
import { retire } from '../actions/memory.ts';
import { remember } from '../actions/remember.ts';
import { type Asked, incidentHere } from './command.ts';

const SHOWN = 15;
const FOUND = 5;
const USAGE = [
  '/sentry memory search <words>: what you may read about it, past incidents too',
  '/sentry memory remember <text>: keeps it for you alone; in an incident’s thread, for that incident',
  '/sentry memory list [words of its path or title]: what you may read, with its history',
  '/sentry memory forget <path, or number in the list>: nobody finds it any more; its history stays',
  '/sentry memory: how much there is',
].join('\n');

/** `/sentry memory …` */
export async function memoryCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { memory } = context.deps;
  const [verb = '', ...rest] = asked.rest.split(' ');
  const may = await context.directory.mayAct(asked.userId, asked.teamId);
  if (!may.ok) return sayText(may.reason);
  switch (verb.toLowerCase()) {
    case '':
      return summary(context);
    case 'search':
      return search(context, asked, rest.join(' '));
    case 'forget':
      return forget(context, asked, rest);
    case 'remember': {
      const incident = await incidentOf(context, asked);
      // The text as it was typed, line ends included.
      return remember(memory, {
        userId: asked.userId,
        incident,
        text: asked.text.replace(/^\s*memory\s+remember\b/i, ''),
      });
    }
    case 'list':
      return listing(context, asked, rest.join(' '));
    default: {
      const near = closestName(verb, ['search', 'remember', 'forget', 'list']);
      const meant = near === null ? '' : ` Did you mean “memory ${near}”?`;
      return sayText(`I do not know “memory ${cut(verb, 40)}”.${meant}\n\n${USAGE}`);
    }
  }
}

/** `/sentry promotions`: what waits for an admin, oldest first. */
export async function promotionsCommand(context: SlackContext, { userId, teamId }: Asked): Promise<Say> {
  const { memory } = context.deps;
  const may = await context.directory.mayAct(userId, teamId);
  if (!may.ok) return sayText(may.reason);
  if (!(await isAdminNow(context, userId))) {
    const { proposalsWaiting } = await memory.summary();
    // What they say comes from threads that not everybody may read.
    return sayText(
      `${countUpTo(proposalsWaiting, 'proposal')} waiting for an admin. Only admins see and decide them: ${(await formatPrincipal(context, memory.admins)) ?? 'nobody yet'}.`,
    );
  }
  const waiting = await memory.promotions.list({ pending: true, limit: SHOWN });
  if (waiting.length === 0) return sayText('No proposal waits for an admin.');
  const cards = await cardUrls(
    context,
    waiting.map(({ jobId }) => jobId),
  );
  return {
    text: escape(waiting.map(({ title, target }) => `${title} (${target.path})`).join('\n')).slice(0, 2_900),
    blocks: [
      heading(`${count(waiting.length, 'proposal')} for everybody’s memory`),
      prose(
        list(
          waiting.map(({ jobId, title, incidentId, proposedAt }) => {
            const url = cards.get(jobId);
            const name = cut(oneLine(title), 120);
            return [
              url ? link(url, name) : words(name),
              words(` · ${incidentId ?? 'no incident'} · since `),
              moment(proposedAt, '{date_short_pretty} {time}'),
            ];
          }),
        ),
      ),
      ...waiting
        .filter(({ jobId }) => !cards.has(jobId))
        .map(({ jobId, title }) =>
          lineWith(
            cut(oneLine(title), 120),
            button({ text: 'Show all', action: MEMORY_ACTIONS.show, value: jobId }),
          ),
        ),
    ],
  };
}

async function summary(context: SlackContext): Promise<Say> {
  const found = await context.deps.memory.summary();
  const { episodes, documents } = found;
  const kinds = documents.map((one) => `${upTo(one.count)} ${one.scope}, ${one.trust.replaceAll('_', ' ')}`);
  return sayText(
    [
      `Tried before: ${countUpTo(episodes.total, 'command')} (${upTo(episodes.succeeded)} worked, ${upTo(episodes.failed)} failed, ${upTo(episodes.unknown)} unknown).`,
      `Documents: ${kinds.join('; ') || 'none'}; ${countUpTo(found.versions, 'version')} in all.`,
      `${countUpTo(found.proposalsWaiting, 'proposal')} waiting for an admin.`,
      `${countUpTo(found.outbox, 'text')} on the way to or out of Chroma.`,
      '',
      USAGE,
    ].join('\n'),
  );
}

/** The best of what this person may read, each with one line and a way to it. */
async function search(context: SlackContext, asked: Asked, wanted: string): Promise<Say> {
  if (wanted === '') return sayText('Say what to look for: /sentry memory search blocked sessions');
  const { memory, records } = context.deps;
  const here = await incidentOf(context, asked);
  const { found, missing } = await memory.search(
    { kind: 'person', userId: asked.userId, incidents: here ? [here.id] : [] },
    wanted,
    {
      limit: FOUND,
      mayRead: async (ids) => {
        const readable = await readableBy(context, asked.userId, asked.channel, await records.incidents(ids));
        return new Set(readable.map(({ id }) => id));
      },
    },
  );
  if (found.length === 0) return sayText(`Nothing about “${cut(wanted, 80)}” that you may read.`);
  const threads = new Map(
    (
      await records.incidents(
        found.flatMap(({ kind, id }) => (kind === 'incident' ? [asIncidentId(id)] : [])),
      )
    ).map(({ id, channel, threadTs }) => [
      id as string,
      channel && threadTs ? messageUrl(context.identity(), channel, threadTs) : null,
    ]),
  );
  return {
    text: escape(found.map(({ title }) => title).join('\n')).slice(0, 2_900),
    blocks: [
      prose(paragraph(bold(`About “${cut(wanted, 80)}”`))),
      ...found.map((one) => foundLine(one, threads.get(one.id) ?? null)),
      ...(missing === null ? [] : [small(missing)]),
    ],
  };
}

function foundLine({ kind, id, title, content, store, path }: FoundMemory, url: string | null): Block {
  const name = cut(oneLine(title), 120);
  const says = cut(oneLine(content), 160);
  if (kind === 'incident')
    return prose(paragraph(url ? link(url, `${id} ${name}`) : words(`${id} ${name}`), words(`\n${says}`)));
  if (kind === 'document')
    return lineWith(
      `${name}\n${says}\n${whose(store)}/${path}`,
      button({ text: 'Show', action: MEMORY_ACTIONS.document, value: id }),
    );
  return prose(paragraph(words(`${name}\n${says}\n/sentry runbooks ${path}`)));
}

/** Shows which it is and asks; with “confirm” behind it, it is done. */
async function forget(context: SlackContext, asked: Asked, given: readonly string[]): Promise<Say> {
  const isSure = given.at(-1)?.toLowerCase() === 'confirm';
  const wanted = (isSure ? given.slice(0, -1) : given).join(' ');
  if (wanted === '')
    return sayText(
      'Say which: /sentry memory forget notes/our-restart, or its number in /sentry memory list',
    );
  const here = await incidentOf(context, asked);
  const all = await context.deps.memory.documents.list(readerHere(asked.userId, here?.id ?? null));
  const named = all.filter(
    ({ store, path }) =>
      path === wanted || `${store}/${path}` === wanted || `${whose(store)}/${path}` === wanted,
  );
  const numbered = /^[1-9]\d{0,3}$/.test(wanted) ? all.slice(Number(wanted) - 1, Number(wanted)) : [];
  const [document, another] = named.length > 0 ? named : numbered;
  if (!document) {
    const near = closestName(
      wanted,
      all.map(({ path }) => path),
    );
    return sayText(
      `There is no “${cut(wanted, 80)}” that you may read.${near === null ? ' /sentry memory list shows what there is.' : ` Did you mean ${near}?`}`,
    );
  }
  const where = (one: MemoryDocument): string => `${whose(one.store)}/${one.path}`;
  if (another) return sayText(`There are several: say which.\n${named.map(where).join('\n')}`);
  const title = cut(oneLine(document.title), 120);
  if (isSure) {
    const done = await retire(context, asked.userId, document.id);
    return sayText(
      done.ok
        ? `“${title}” is forgotten: nobody finds it any more. Its history stays on record.`
        : done.reason,
    );
  }
  const isTheirs =
    document.scope === 'workspace'
      ? await isAdminNow(context, asked.userId)
      : document.scope === 'user' || document.author === asked.userId;
  if (!isTheirs)
    return sayText(
      `“${title}” is not yours to forget: only who wrote it takes it back, and an admin what is everybody’s.`,
    );
  const says = `Forget “${title}” (${where(document)})? Nobody finds it any more, and no investigation uses it; its history stays on record. To do it: /sentry memory forget ${where(document)} confirm`;
  return {
    text: says,
    blocks: [
      prose(paragraph(words(says))),
      buttons(
        button({ text: 'Forget it', action: MEMORY_ACTIONS.retire, value: document.id, style: 'danger' }),
      ),
    ],
  };
}

async function listing(context: SlackContext, asked: Asked, wanted: string): Promise<Say> {
  const { memory } = context.deps;
  const here = await incidentOf(context, asked);
  const all = await memory.documents.list(readerHere(asked.userId, here?.id ?? null));
  const needle = wanted.trim().toLowerCase();
  const found = all.filter(({ store, path, title }) =>
    `${store}/${path} ${title}`.toLowerCase().includes(needle),
  );
  if (found.length === 0)
    return sayText(
      needle === ''
        ? 'Nothing is remembered that you may read.'
        : `Nothing about “${cut(wanted, 80)}” that you may read.`,
    );
  return {
    text: escape(found.map(({ store, path }) => `${store}/${path}`).join('\n')).slice(0, 2_900),
    blocks: [
      prose(
        paragraph(
          bold(`${count(found.length, 'document')}${needle === '' ? '' : ` about “${cut(wanted, 80)}”`}`),
        ),
      ),
      ...found.slice(0, SHOWN).map((one) => documentLine(one, all.indexOf(one) + 1)),
      ...(found.length > SHOWN
        ? [small(`and ${found.length - SHOWN} more: say which, /sentry memory list <words>`)]
        : []),
    ],
  };
}

const documentLine = ({ id, store, path, title, trust }: MemoryDocument, number: number) =>
  lineWith(
    `${number}. ${cut(oneLine(title), 120)}\n${whose(store)}/${path} · ${trustLabels[trust]}`,
    button({ text: 'Show', action: MEMORY_ACTIONS.document, value: id }),
  );

const whose = (store: string): string => (store.startsWith('user:') ? 'yours' : store);

async function incidentOf(context: SlackContext, asked: Asked) {
  const id = await incidentHere(context, asked);
  return (id && (await context.deps.records.load(id))?.incident) || null;
}

async function cardUrls(
  context: SlackContext,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await context.deps.sql<{ readonly id: string; readonly channel: string; readonly ts: string }>`
    SELECT incident_id AS id, channel, ts FROM slack_post
    WHERE slot = 'card' AND ts IS NOT NULL AND incident_id = ANY (ARRAY(SELECT jsonb_array_elements_text(${context.deps.sql.json(jobIds)})))`;
  return new Map(rows.map(({ id, channel, ts }) => [id, messageUrl(context.identity(), channel, ts)]));
}
