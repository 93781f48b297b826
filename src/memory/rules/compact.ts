import { count } from '../../core/count.ts';
import { messageOf } from '../../core/errors.ts';
import type { Domain } from '../../core/incident.ts';
import type { Log } from '../../core/log.ts';
import type { Sql } from '../../core/sql.ts';
import type { Audiences } from '../audiences.ts';
import { conversationStore } from '../documents/document.ts';
import type { Documents } from '../documents/documents.ts';
import type { Promotions } from '../promotion/promotions.ts';
import { sharedFacts } from '../systems/system-facts.ts';
import { systemOf } from '../systems/systems.ts';
import { groupIncidents, type IncidentGroup } from './group-incidents.ts';
import { pastIncidents } from './past-incident.ts';
import type { AdviseOn } from './ports.ts';
import { ruleText, ruleTitle, templateAdvice } from './rule-text.ts';

/** The seed's: more than so many since the last time. */
export const MORE_THAN = 50;
/** The most frequent kinds; an admin reads each of them. */
const MOST_RULES = 10;
/** Who writes and proposes them. */
const AUTHOR = 'supervisor';

export interface CompactionDeps {
  readonly sql: Sql;
  readonly domains: readonly Domain[];
  readonly documents: Pick<Documents, 'write'>;
  readonly promotions: Pick<Promotions, 'propose'>;
  readonly audiences: Pick<Audiences, 'apart'>;
  /** Null where there is no model: a template says what the record says. */
  readonly advise: AdviseOn | null;
  readonly log: Log;
}

export interface Compacted {
  readonly domain: Domain;
  readonly incidents: number;
  /** The drafts, each in the conversation of its newest incident; those that everybody may read are proposed for promotion. */
  readonly rules: readonly { readonly incident: string; readonly path: string }[];
}

/** Domains with more than 50 incidents since their last compaction are summarised; the incidents stay. */
export async function compactAll(deps: CompactionDeps, signal: AbortSignal): Promise<readonly Compacted[]> {
  const done: Compacted[] = [];
  for (const domain of deps.domains) {
    if (signal.aborted) break;
    const one = await compactDomain(deps, domain, signal);
    if (one) done.push(one);
  }
  return done;
}

/** Null when it is not time yet. For one process at a time, which is what schedules it. */
export async function compactDomain(
  deps: CompactionDeps,
  domain: Domain,
  signal: AbortSignal,
): Promise<Compacted | null> {
  // Read and asked about without holding anything: a model takes minutes.
  const incidents = await pastIncidents(deps.sql, domain);
  if (incidents.length <= MORE_THAN) return null;
  // What happened in a private channel makes no rule together with what others may read.
  const groups = (await deps.audiences.apart(incidents.map(({ id }) => id)))
    .flatMap(({ everybody, ids }) =>
      groupIncidents(incidents.filter(({ id }) => ids.includes(id))).map((group) => ({ group, everybody })),
    )
    .toSorted((a, b) => b.group.incidents.length - a.group.incidents.length)
    .slice(0, MOST_RULES);
  const texts: { readonly group: IncidentGroup; readonly everybody: boolean; readonly text: string }[] = [];
  for (const { group, everybody } of groups)
    texts.push({ group, everybody, text: ruleText(group, await adviceOn(deps, group, signal)) });
  // Drafts first: a process that dies here leaves it to the next, which finds the same and writes the same places.
  const rules: { incident: string; path: string }[] = [];
  for (const { group, everybody, text } of texts) {
    const path = await draft(deps, domain, group, text, everybody);
    const newest = group.incidents.at(-1);
    if (path !== null && newest) rules.push({ incident: newest.id, path });
  }
  await deps.sql`
    INSERT INTO rule_compaction (domain, incidents, rules)
    VALUES (${domain}, ${deps.sql.json(incidents.map(({ id }) => id))}, ${deps.sql.json(rules)})`;
  deps.log.info(
    { domain, incidents: incidents.length, rules: rules.length },
    'past incidents became rules of thumb',
  );
  return { domain, incidents: incidents.length, rules };
}

async function adviceOn(deps: CompactionDeps, group: IncidentGroup, signal: AbortSignal): Promise<string> {
  if (deps.advise === null) return templateAdvice(group);
  try {
    return await deps.advise(group, signal);
  } catch (error) {
    deps.log.warn({ group: group.key, error: messageOf(error) }, 'a rule is made without the model');
    return templateAdvice(group);
  }
}

/**
 * A draft in the newest incident's conversation, and an admin's card where everybody may read it: of a private channel's,
 * its members propose it. Null when the scanner or the policy will not have it.
 */
async function draft(
  deps: CompactionDeps,
  domain: Domain,
  group: IncidentGroup,
  text: string,
  everybody: boolean,
): Promise<string | null> {
  const newest = group.incidents.at(-1);
  if (!newest) return null;
  const path = `rules/${domain}/${group.key}`;
  const targets = [...new Set(group.incidents.flatMap(({ target }) => target ?? []))];
  const systems = await Promise.all(targets.map((target) => systemOf(deps.sql, target)));
  const written = await deps.documents.write(
    { kind: 'agent', role: AUTHOR, incidentId: newest.id },
    {
      place: { store: conversationStore, incidentId: newest.id },
      document: { path, title: ruleTitle(group), content: text, docType: 'rule_of_thumb', domain },
      sources: group.incidents.map(({ id }) => ({ kind: 'incident', ref: id })),
      // It was learnt on all of them: what they do not agree in is no condition of it.
      system: sharedFacts(systems.filter((one) => one !== null)),
    },
  );
  if (!written.ok) {
    deps.log.warn({ path, code: written.code }, 'a rule of thumb was not written');
    return null;
  }
  if (!everybody) return path;
  const proposed = await deps.promotions.propose(
    { kind: 'agent', incidentId: newest.id, userId: null },
    {
      ref: { id: written.document.id },
      rationale: `${count(group.incidents.length, 'incident')} of this kind since the last look back over ${domain}.`,
      domain,
      by: AUTHOR,
    },
  );
  if (!proposed.ok) deps.log.warn({ path, code: proposed.code }, 'a rule of thumb was not proposed');
  return path;
}
