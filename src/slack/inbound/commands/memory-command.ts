import { count, countUpTo, upTo } from '../../../core/count.ts';
import type { MemoryDocument } from '../../../memory/documents/document.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { messageUrl } from '../../people/identity.ts';
import { isAdminNow, readerHere } from '../../people/reader.ts';
import {
  bold,
  button,
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
import { remember } from '../actions/remember.ts';
import { type Asked, incidentHere } from './command.ts';

const SHOWN = 15;
const USAGE = [
  '/sentry memory remember <text>: keeps it for you alone; in an incident’s thread, for that incident',
  '/sentry memory list [words of its path or title]: what you may read, with its history',
  '/sentry memory: how much there is',
].join('\n');

/** `/sentry memory …` */
export async function memoryCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { memory } = context.deps;
  const [verb = '', ...rest] = asked.rest.split(' ');
  switch (verb.toLowerCase()) {
    case '':
      return summary(context);
    case 'remember': {
      const may = await context.directory.mayAct(asked.userId, asked.teamId);
      if (!may.ok) return sayText(may.reason);
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
    default:
      return sayText(`I do not know “memory ${cut(verb, 40)}”.\n\n${USAGE}`);
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
      ...found.slice(0, SHOWN).map(documentLine),
      ...(found.length > SHOWN
        ? [small(`and ${found.length - SHOWN} more: say which, /sentry memory list <words>`)]
        : []),
    ],
  };
}

const documentLine = ({ id, store, path, title, trust }: MemoryDocument) =>
  lineWith(
    `${cut(oneLine(title), 120)}\n${whose(store)}/${path} · ${trustLabels[trust]}`,
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
