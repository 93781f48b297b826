import { randomUUID } from 'node:crypto';
import { count } from '../../core/count.ts';
import { messageOf } from '../../core/errors.ts';
import type { Domain } from '../../core/incident.ts';
import type { MemoryAsk, PreparedMemory, ShownMemory } from '../../core/memory.ts';
import { formatHeldBack } from '../../core/seen-before.ts';
import { within } from '../../core/within.ts';
import { proseOf } from '../../runbooks/prose.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { fittingRunbooks, recallFromFiles } from '../../runbooks/runbook-files.ts';
import { runbooksOf } from '../../search/collections.ts';
import { searchText } from '../../search/search-text.ts';
import type { Reader } from '../documents/access.ts';
import { type Entities, noEntities } from '../documents/document.ts';
import { countTokens } from '../ranking/count-tokens.ts';
import { entitiesOf } from '../ranking/entities-of.ts';
import { memoryBlock } from '../ranking/memory-block.ts';
import { isTrusted } from '../ranking/trust-score.ts';
import { systemOf } from '../systems/systems.ts';
import { type FindDeps, type Found, type FoundMemory, findMemories } from './find-memories.ts';
import { documentSpacesOf, domainSpaces } from './spaces.ts';

export interface PrepareDeps extends FindDeps {
  /** Puts into the index what documents say now. */
  readonly refresh: () => Promise<void>;
  /** MEMORY_ENABLED. */
  readonly enabled: boolean;
  /** MEMORY_CONTEXT_TOKEN_BUDGET: at most so many tokens a turn. */
  readonly tokenBudget: number;
  /** MEMORY_TRUST_THRESHOLD: the tier from which on a memory stands in the trusted block. */
  readonly trustThreshold: number;
  /** Memory is screened when it is written; what has come into it otherwise is hidden here. */
  readonly redact: (text: string) => string;
  /** The runbooks as they are known now: the one that the alert names comes first, and they are there when memory is not. */
  readonly runbooks: () => readonly Runbook[];
  /** A turn waits for memory this long and not longer; `LIMIT_MS` when not given. */
  readonly limitMs?: number;
}

const LIMIT_MS = 2_000;
/** Of that, for bringing the index up to date and for nearness in meaning; words take what is left. */
const REFRESH_SHARE = 0.25;
const MEANING_MS = { first: 800, later: 200 };
/** Memories a turn. Where one fits by far best, what fits less than a third as well is about something else. */
const FIRST_TURN = 8;
const LEAST_FIRST = { text: 0, share: 0.3 };
/** In a later turn only what it says makes for a memory, and only one that fits it well and is new. */
const LATER_TURN = 3;
/** Runbooks from files where memory does not answer. */
const FROM_FILES = 3;
const LEAST_LATER = { text: 0.08, share: 0.6 };

/**
 * What memory has for a new user turn (seed 002, `memory_prepare`): what the role may read, found, re-ranked, cut to the
 * budget, in a trusted and an untrusted block. Null when memory is off. Never throws and ends within its limit; what could
 * not be asked is said.
 */
export function createPrepare(deps: PrepareDeps): (ask: MemoryAsk) => Promise<PreparedMemory | null> {
  const limitMs = deps.limitMs ?? LIMIT_MS;
  return async (ask) => {
    if (!deps.enabled) return null;
    const run = `mem_${randomUUID()}`;
    try {
      const { found, heldBack, leftOut } = await within(limitMs, find(deps, ask, limitMs * REFRESH_SHARE));
      const notes = [
        ...(heldBack === null || ask.turn > 1 ? [] : [formatHeldBack(heldBack)]),
        ...(leftOut === 0
          ? []
          : [
              `${count(leftOut, 'older document')} about this service not looked at: search memory for them.`,
            ]),
      ];
      const note = notes.map((line) => `${line}\n`).join('');
      return { run, turn: ask.turn, ...shownOf(deps, found, note), missing: null };
    } catch (error) {
      deps.log.warn({ incident: ask.incident.id, error: messageOf(error) }, 'memory did not answer');
      const files = shownOf(deps, fromFiles(deps, ask), '');
      return { run, turn: ask.turn, ...files, missing: 'Memory did not answer.' };
    }
  };
}

/**
 * Workspace stores and this conversation. No person's own store: what a role says, everybody in the thread reads.
 */
function readerOf({ incident }: MemoryAsk): Reader {
  return { kind: 'agent', incidentId: incident.id, userId: null };
}

/** The runbooks that fit, as their files say it: they are read when Sentry starts, and no memory is asked. */
function fromFiles({ runbooks }: PrepareDeps, { incident, turn, shown }: MemoryAsk): readonly FoundMemory[] {
  if (turn > 1) return [];
  const known = runbooks();
  return recallFromFiles(known, incident, incident.incidentType, FROM_FILES).flatMap(({ runbookId }) => {
    const runbook = shown.includes(runbookId) ? undefined : known.find(({ id }) => id === runbookId);
    return runbook === undefined ? [] : [memoryOfFile(runbook, incident.domain)];
  });
}

/** The one that the alert names comes first, found by the search or not. */
function namedFirst(
  { runbooks }: PrepareDeps,
  { incident, shown }: MemoryAsk,
  found: readonly FoundMemory[],
): readonly FoundMemory[] {
  const [best] = fittingRunbooks(runbooks(), incident, incident.incidentType);
  if (best === undefined || best.fit === 'text') return found;
  const { runbook } = best;
  const there = found.find(({ runbookId }) => runbookId === runbook.id);
  if (there === undefined && shown.includes(runbook.id)) return found;
  return [there ?? memoryOfFile(runbook, incident.domain), ...found.filter((one) => one !== there)];
}

function memoryOfFile({ id, title, body }: Runbook, domain: Domain): FoundMemory {
  return {
    kind: 'runbook',
    id,
    text: 1,
    trust: 'system_seeded',
    type: 'runbook',
    updatedAt: new Date(),
    entities: noEntities,
    runbookId: id,
    store: runbooksOf(domain),
    path: id,
    title,
    heading: '',
    content: proseOf(body, title),
    version: 0,
    system: null,
  };
}

async function find(
  deps: PrepareDeps,
  ask: MemoryAsk,
  refreshMs: number,
): Promise<Pick<Found, 'heldBack' | 'leftOut'> & { readonly found: readonly FoundMemory[] }> {
  const { incident, turn, text, shown } = ask;
  const reader = readerOf(ask);
  const first = turn === 1;
  const texts = [...(first ? [searchText(incident, incident.incidentType)] : []), text].filter(
    (one) => one.trim() !== '',
  );
  if (texts.length === 0) return { found: [], heldBack: null, leftOut: 0 };
  await within(refreshMs, deps.refresh()).catch((error: unknown) =>
    deps.log.warn({ error: messageOf(error) }, 'the index of documents could not be brought up to date'),
  );
  const { found, heldBack, leftOut } = await findMemories(deps, {
    reader,
    here: incident.id,
    ...(ask.asker === undefined ? {} : { asker: ask.asker }),
    spaces: [...domainSpaces(incident.domain), ...(await documentSpacesOf(deps.sql, reader))],
    texts,
    entities: aboutOf(ask, texts.join('\n')),
    // Once: a later turn gets what is new and fits well what was said.
    always: first ? namesOf(incident) : [],
    domain: incident.domain,
    limit: first ? FIRST_TURN : LATER_TURN,
    meaningWithinMs: first ? MEANING_MS.first : MEANING_MS.later,
    least: first ? LEAST_FIRST : LEAST_LATER,
    system: await systemOf(deps.sql, incident.target),
    // An incident is no memory of itself.
    without: [...shown, incident.id],
  });
  const memories = found.map(({ memory }) => memory);
  return { found: first ? namedFirst(deps, ask, memories) : memories, heldBack, leftOut };
}

/** The service and the target by name, as labels and configuration have them: what a text seems to name may be any word. */
function namesOf({ labels, target }: MemoryAsk['incident']): readonly string[] {
  return [...entitiesOf('', labels).service, ...(target === null ? [] : [target])];
}

function aboutOf({ incident: { labels, target } }: MemoryAsk, text: string): Entities {
  const about = entitiesOf(text, labels);
  return target === null ? about : { ...about, resource: [...about.resource, target.toLowerCase()] };
}

function shownOf(
  { redact, tokenBudget, trustThreshold }: PrepareDeps,
  found: readonly FoundMemory[],
  note: string,
): Pick<PreparedMemory, 'text' | 'tokens' | 'shown'> {
  const byId = new Map(found.map((memory) => [memory.id, memory]));
  const block = memoryBlock(
    found.map(({ id, path, store, title, trust, updatedAt, heading, content, system }) => ({
      id,
      path,
      store,
      title: redact(heading === '' ? title : `${title} › ${heading}`),
      trust,
      updatedAt: updatedAt.toISOString(),
      system,
      text: redact(content),
    })),
    { budget: tokenBudget - countTokens(note), trustedFrom: trustThreshold },
  );
  const shown = block.shown.map(
    ({ id, store, path, title, trust, tokens }): ShownMemory => ({
      id,
      store,
      path,
      title,
      version: byId.get(id)?.version ?? 0,
      trust,
      trusted: isTrusted(trust, trustThreshold),
      tokens,
    }),
  );
  // Nothing to say costs nothing: a note alone would be more than a small budget.
  const text = countTokens(note) > tokenBudget ? '' : `${block.text}${note}`;
  return { text, tokens: countTokens(text), shown };
}
