import { randomUUID } from 'node:crypto';
import { messageOf } from '../../domain/errors.ts';
import type { Log } from '../../domain/log.ts';
import type { MemoryAsk, PreparedMemory, ShownMemory } from '../../domain/memory.ts';
import { within } from '../../domain/within.ts';
import type { Reader } from '../documents/access.ts';
import type { Entities } from '../documents/document.ts';
import { countTokens } from '../ranking/count-tokens.ts';
import { entitiesOf } from '../ranking/entities-of.ts';
import { memoryBlock } from '../ranking/memory-block.ts';
import type { RankedMemory } from '../ranking/rank-memories.ts';
import { tierOf } from '../ranking/trust-score.ts';
import { searchText } from '../retrieval/search-text.ts';
import { systemOf } from '../systems/systems.ts';
import { type FindDeps, type FoundMemory, findMemories } from './find-memories.ts';
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
  readonly log: Log;
  readonly limitMs?: number;
}

/** A turn waits for memory this long and not longer. */
const LIMIT_MS = 2_000;
/** Of that, for bringing the index up to date and for nearness in meaning; words take what is left. */
const REFRESH_MS = 500;
const MEANING_MS = { first: 800, later: 200 };
/** Memories a turn. Where one fits by far best, what fits less than a third as well is about something else. */
const FIRST_TURN = 8;
const LEAST_FIRST = { text: 0, share: 0.3 };
/** In a later turn only what it says makes for a memory, and only one that fits it well and is new. */
const LATER_TURN = 3;
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
      const found = await within(limitMs, find(deps, ask));
      return { run, turn: ask.turn, ...shownOf(deps, found), missing: null };
    } catch (error) {
      deps.log.warn({ incident: ask.incident.id, error: messageOf(error) }, 'memory did not answer');
      return { run, turn: ask.turn, text: '', tokens: 0, shown: [], missing: 'Memory did not answer.' };
    }
  };
}

/**
 * Workspace stores and this conversation. No person's own store: what a role says, everybody in the thread reads.
 */
function readerOf({ incident }: MemoryAsk): Reader {
  return { kind: 'agent', incidentId: incident.id, userId: null };
}

async function find(deps: PrepareDeps, ask: MemoryAsk): Promise<readonly RankedMemory<FoundMemory>[]> {
  const { incident, turn, text, shown } = ask;
  const reader = readerOf(ask);
  const first = turn === 1;
  const texts = [...(first ? [searchText(incident, incident.incidentType)] : []), text].filter(
    (one) => one.trim() !== '',
  );
  if (texts.length === 0) return [];
  await within(REFRESH_MS, deps.refresh()).catch((error: unknown) =>
    deps.log.warn({ error: messageOf(error) }, 'the index of documents could not be brought up to date'),
  );
  const { found } = await findMemories(deps, {
    reader,
    spaces: [...domainSpaces(incident.domain), ...(await documentSpacesOf(deps.sql, reader))],
    texts,
    entities: aboutOf(ask, texts.join('\n')),
    domain: incident.domain,
    limit: first ? FIRST_TURN : LATER_TURN,
    meaningWithinMs: first ? MEANING_MS.first : MEANING_MS.later,
    least: first ? LEAST_FIRST : LEAST_LATER,
    system: await systemOf(deps.sql, incident.target),
    // An incident is no memory of itself.
    without: [...shown, incident.id],
  });
  return found;
}

function aboutOf({ incident: { labels, target } }: MemoryAsk, text: string): Entities {
  const about = entitiesOf(text, labels);
  return target === null ? about : { ...about, resource: [...about.resource, target.toLowerCase()] };
}

function shownOf(
  { redact, tokenBudget, trustThreshold }: PrepareDeps,
  found: readonly RankedMemory<FoundMemory>[],
): Pick<PreparedMemory, 'text' | 'tokens' | 'shown'> {
  const byId = new Map(found.map(({ memory }) => [memory.id, memory]));
  const block = memoryBlock(
    found.map(({ memory: { id, path, store, title, trust, updatedAt, heading, content, system } }) => ({
      id,
      path,
      store,
      title: redact(heading === '' ? title : `${title} › ${heading}`),
      trust,
      updatedAt: updatedAt.toISOString(),
      system,
      text: redact(content),
    })),
    { budget: tokenBudget, trustedFrom: trustThreshold },
  );
  const shown = block.shown.map(
    ({ id, store, path, title, trust, tokens }): ShownMemory => ({
      id,
      store,
      path,
      title,
      version: byId.get(id)?.version ?? 0,
      trust,
      trusted: tierOf(trust) >= trustThreshold,
      tokens,
    }),
  );
  return { text: block.text, tokens: countTokens(block.text), shown };
}
