import { closestName } from '../core/closest-name.ts';
import { count } from '../core/count.ts';
import { messageOf } from '../core/errors.ts';
import { formatHours, isWithin } from '../core/hours.ts';
import { formatGroup } from '../core/principal.ts';
import type { Target } from '../core/target.ts';
import { within } from '../core/within.ts';
import type { EscalationConfig, Mention, ScheduleConfig } from '../escalation/escalation-config.ts';
import type { OnCallPerson } from '../escalation/ports.ts';
import { createSchedule } from '../escalation/schedules/create-schedule.ts';
import { nextTurn } from '../escalation/schedules/rotation/who-has-it.ts';
import { NOBODY_CALLED } from '../escalation/who-to-call.ts';
import { listSystems, type TargetSystem } from '../memory/systems/systems.ts';
import type { Runbook } from '../runbooks/runbook.ts';
import type { SlackCommand } from '../slack/ports.ts';
import { fitsTarget } from './home-facts.ts';
import type { Services } from './services.ts';

/** Whoever asks waits for it: what has not answered by then does not answer. */
const ANSWER_MS = 4_000;
const FOUND = 5;
/** Of a target, newest first: what could not be read in them. */
const INCIDENTS = 20;
/** Among so many of all targets: no more of a record that grows is read. */
const LOOKED_AT = 500;

/** `/sentry runbooks|targets|oncall`: what there is to go by. */
export const readCommands = (services: Services): Readonly<Record<string, SlackCommand>> => ({
  runbooks: ({ text }) => runbooksCommand(services, text.trim().replace(/^(?:search|for|about|on)\s+/i, '')),
  targets: ({ text }) => targetsCommand(services, text.trim()),
  oncall: () => onCallCommand(services),
});

async function runbooksCommand(services: Services, asked: string): Promise<string> {
  const all = services.knownToPeople();
  const named = all.find(({ id }) => id === asked.toLowerCase());
  if (named) return formatRunbook(services, named);
  if (asked === '') return listRunbooks(all);
  const { found } = await services.memory.searchWorkspace(asked, {
    limit: 2 * FOUND,
    domain: null,
    past: false,
  });
  const ids = [...new Set(found.flatMap(({ runbookId }) => runbookId ?? []))];
  const best = ids.flatMap((id) => all.find((each) => each.id === id) ?? []).slice(0, FOUND);
  const near = closestName(
    asked,
    all.map(({ id }) => id),
  );
  const meant = near === null ? '' : ` Did you mean ${near}?`;
  if (best.length === 0) return `No runbook is about “${asked}”.${meant} /sentry runbooks lists them.`;
  return [
    `About “${asked}”:${meant}`,
    ...best.map((each) => `• ${each.id}: ${each.title}. ${firstSentence(each.body)} (${sourceOf(each)})`),
    `Its steps: /sentry runbooks ${best[0]?.id ?? ''}`,
  ].join('\n');
}

function listRunbooks(all: readonly Runbook[]): string {
  const shelves = [...new Set(all.map(shelfOf))].toSorted();
  return [
    `${count(all.length, 'runbook')}. /sentry runbooks <words> searches them, /sentry runbooks <name> tells one.`,
    ...shelves.map((shelf) => {
      const names = all.filter((each) => shelfOf(each) === shelf).map(({ id }) => id);
      return `${shelf} (${names.length}): ${names.join(', ')}`;
    }),
  ].join('\n');
}

function formatRunbook({ tools }: Services, runbook: Runbook): string {
  const turns = runbook.steps.flatMap(({ checks }) => checks).map(({ turn }) => turn);
  const acts = turns.flatMap((turn) =>
    turn?.kind === 'conclude' ? turn.conclusion.propose.flatMap(({ steps }) => steps) : [],
  );
  const named = [...new Set(acts.map(({ tool }) => tool))].flatMap((name) => {
    const tool = tools.find((each) => each.name === name);
    return tool?.kind === 'active' ? [tool.verbs.button.toLowerCase()] : [];
  });
  return [
    `${runbook.title} (${runbook.id}, for ${shelfOf(runbook)}; ${sourceOf(runbook)})`,
    firstSentence(runbook.body),
    ...runbook.steps.map(({ why }, at) => `${at + 1}. ${why}`),
    named.length > 0
      ? `It may ask to ${named.join(', or to ')}.`
      : 'It changes nothing: it says what is wrong.',
  ].join('\n');
}

/** The folder it stands in: a host's runbooks are of the same domain as those of containers, and nobody looks for them there. */
const shelfOf = ({ file, domains }: Runbook): string =>
  file
    .replace(/^workspace:/, '')
    .split('/')
    .at(-2) ?? domains.join(', ');

/** Where people find it. */
const sourceOf = ({ file }: Runbook): string => file.split('/').slice(-2).join('/');

/** What it is about, below its headings. */
function firstSentence(body: string): string {
  const prose = body
    .split(/\n{2,}/)
    .find((part) => /^[A-Z]/.test(part.trim()))
    ?.replaceAll(/\s+/g, ' ');
  return /^.*?[.:](?=\s|$)/.exec(prose ?? '')?.[0].replaceAll(/[*`]/g, '') ?? '';
}

async function targetsCommand(services: Services, asked: string): Promise<string> {
  const all = [...services.eachTarget];
  if (all.length === 0) return 'No target is configured: `sentry targets add` writes one.';
  const wanted = asked === '' ? all : all.filter(({ name }) => name === asked.toLowerCase());
  if (wanted.length === 0) {
    const near = closestName(
      asked,
      all.map(({ name }) => name),
    );
    return `There is no target “${asked}”.${near === null ? '' : ` Did you mean ${near}?`}`;
  }
  const seen = new Map((await listSystems(services.sql)).map((each) => [each.target, each]));
  const lines = await Promise.all(
    wanted.map((target) => formatTarget(services, target, seen.get(target.name))),
  );
  return lines.flat().join('\n');
}

async function formatTarget(
  services: Services,
  target: Target,
  seen: TargetSystem | undefined,
): Promise<readonly string[]> {
  const { name, kind, environment } = target;
  const [answers, missed] = await Promise.all([lookNow(services, name, seen), unreadIn(services, name)]);
  return [
    `${name} (${kind}, ${environment}): ${answers}`,
    `   ${mayDo(services, target)}`,
    ...missed.map((line) => `   ${line}`),
  ];
}

async function lookNow({ systems }: Services, name: string, seen: TargetSystem | undefined): Promise<string> {
  try {
    const facts = await within(ANSWER_MS, systems.facts(name));
    const [first] = Object.entries(facts);
    return `answers now${first ? `: ${first.join(' ')}` : ''}.`;
  } catch (error) {
    const last = seen ? ` It last answered ${minute(seen.seenAt)}.` : ' It has not answered yet.';
    return `does NOT answer now: ${messageOf(error).replace(/\.$/, '')}.${last}`;
  }
}

function mayDo({ tools, systems }: Services, target: Target): string {
  const acts = tools.filter((tool) => tool.kind === 'active' && fitsTarget(tool, target));
  if (acts.length === 0 || !systems.mayAct(target.name)) return 'Sentry only reads it.';
  const names = acts.flatMap((tool) => (tool.kind === 'active' ? [tool.verbs.button.toLowerCase()] : []));
  return `Once approved, Sentry may ${names.join(', ')}.`;
}

/** What failed in its newest incidents, most often first. */
async function unreadIn({ sql }: Services, target: string): Promise<readonly string[]> {
  const rows = await sql<{ readonly tool: string; readonly incidents: number; readonly last: string }>`
    SELECT c.tool, count(DISTINCT c.incident_id)::int AS incidents, max(c.finished_at) AS last
      FROM (SELECT id FROM (SELECT id, target FROM incident ORDER BY opened_at DESC LIMIT ${LOOKED_AT}) newest
             WHERE target = ${target} LIMIT ${INCIDENTS}) i
      JOIN tool_call c ON c.incident_id = i.id
     WHERE c.target = ${target} AND c.state = 'failed' AND c.code IS NOT NULL
     GROUP BY c.tool ORDER BY incidents DESC, c.tool LIMIT 3`;
  return rows.map(
    ({ tool, incidents, last }) =>
      `Could not read ${tool.replaceAll('_', ' ')} in ${incidents} of its newest ${INCIDENTS} incidents, last ${minute(last)}.`,
  );
}

async function onCallCommand(services: Services): Promise<string> {
  const section = services.config.escalation;
  const now = new Date();
  const [schedules, group] = await Promise.all([
    Promise.all((section?.schedules ?? []).map((schedule) => formatSchedule(services, schedule, now))),
    formatOncallGroup(services),
  ]);
  return [
    ...schedules,
    ...group,
    ...(schedules.length === 0 ? await formatMentioned(services, section) : []),
    ...quietLines(section, now),
  ].join('\n');
}

async function formatSchedule(services: Services, config: ScheduleConfig, now: Date): Promise<string> {
  const { name } = config;
  try {
    const people = await within(
      ANSWER_MS,
      createSchedule(config).onCall(now, AbortSignal.timeout(ANSWER_MS)),
    );
    if (people.length === 0) return `${name}: nobody is on call now.`;
    const who = (await Promise.all(people.map((each) => nameOf(services, each)))).join(', ');
    if (config.type !== 'rotation')
      return `${name}: ${who}. Until when, and who is next, stands at ${config.type}.`;
    const next = nextTurn(config, now);
    return next === null
      ? `${name}: ${who}, until somebody changes the rotation.`
      : `${name}: ${who} until ${minute(next.at)}, then ${next.person === null ? 'nobody' : written(next.person)}.`;
  } catch (error) {
    return `${name}: I could not tell who is on call: ${messageOf(error)}`;
  }
}

/** A Slack account where there is one: named, and nobody is rung. */
const written = (person: string): string => (person.includes('@') ? person : `<@${person}>`);

async function nameOf(
  { slackWorkspace }: Services,
  { slackUser, email, name }: OnCallPerson,
): Promise<string> {
  const id =
    slackUser ??
    (email === null ? null : await slackWorkspace.directory.userByEmail(email).catch(() => null));
  return id === null ? name : `<@${id}>`;
}

async function formatOncallGroup({ settings, slackWorkspace }: Services): Promise<readonly string[]> {
  const { oncallGroup } = settings;
  if (oncallGroup === null) return [];
  const name = formatGroup(oncallGroup);
  try {
    const members = await slackWorkspace.directory.groupMembers(oncallGroup);
    return [
      members.length === 0 ? `${name}: nobody is in it.` : `${name}: ${members.map(written).join(', ')}.`,
    ];
  } catch (error) {
    return [`${name}: ${messageOf(error)}`];
  }
}

/** Without a schedule: who is mentioned when somebody is needed. */
async function formatMentioned(
  { settings }: Services,
  section: EscalationConfig | null,
): Promise<readonly string[]> {
  const people: readonly Mention[] =
    section?.levels.flatMap(({ mention }) => mention) ??
    (settings.oncallGroup === null
      ? settings.approvers.flatMap((one) => (one.kind === 'channel' ? [] : [one]))
      : [{ kind: 'group', name: settings.oncallGroup }]);
  const names = people.map((one) => (one.kind === 'user' ? written(one.id) : formatGroup(one.name)));
  return names.length === 0
    ? [NOBODY_CALLED]
    : [`No schedule is configured. Mentioned when somebody is needed: ${[...new Set(names)].join(', ')}.`];
}

const quietLines = (section: EscalationConfig | null, now: Date): readonly string[] =>
  (section?.quietHours ?? []).map(
    (hours) =>
      `Quiet${isWithin(hours, now) ? ' NOW' : ''} for ${hours.severities.join(', ')}: ${formatHours(hours)}. Nobody is called for those then.`,
  );

/** As moments stand in plain lines: Slack shows them in the reader's own zone. */
const minute = (at: Date | string): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
