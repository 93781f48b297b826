import type { IncidentId } from '../../../core/ids.ts';
import { parseIncidentId } from '../../../core/ids.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isEnded } from '../../../core/machine.ts';
import { isMerged } from '../../../core/merged-with.ts';
import { asksForChanges } from '../../../incidents/questions/changes-asked.ts';
import { asksForOpen } from '../../../incidents/questions/record-answer.ts';
import type { SlackContext } from '../../context.ts';
import { onlyTheRecord, shortAnswer, shortState } from '../../outbound/answers/short-answer.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { messageUrl } from '../../people/identity.ts';
import { briefOf } from '../../views/blocks/brief.ts';
import { link, paragraph, prose, words } from '../../views/blocks/build.ts';
import type { Slot } from '../../views/blocks/slot.ts';
import { escape } from '../../views/blocks/text.ts';
import { remember } from '../actions/remember.ts';
import { COMMANDS, helpSay } from '../commands/all-commands.ts';
import { answer } from '../commands/answer.ts';
import { notToSee } from '../commands/command.ts';
import { createManualIncident } from '../commands/create-manual-incident.ts';
import { readCommand, type Spoken } from '../commands/read-command.ts';
import { sentryCommand } from '../commands/sentry-command.ts';
import { readCourtesy } from '../direct/read-direct.ts';
import { isQuestion } from './question-words.ts';
import { readOrder } from './read-order.ts';

/** Something a person said to the bot. */
export interface Said {
  readonly userId: string;
  readonly teamId: string | null;
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string | null;
  /** Without the mention. */
  readonly text: string;
}

const HINT = /^\s*hint\s*:\s*/i;
const REMEMBER = /^\s*remember\s*:\s*/i;
/**
 * A mention: a command is carried out. Else in an incident's thread a question is answered from the record, anything more is a hint;
 * elsewhere it is something to look into.
 */
export async function answerMention(context: SlackContext, said: Said): Promise<void> {
  const incidentId = await incidentOf(context, said);
  if (!incidentId) return answerElsewhere(context, said);
  await noteWriter(context, incidentId, said);
  const text = said.text.trim();
  const spoken = readCommand(text, COMMANDS, { incident: incidentId, inThread: true });
  if (spoken) return takeCommand(context, incidentId, said, spoken);
  if (HINT.test(text)) return takeHint(context, incidentId, said, text.replace(HINT, ''));
  if (REMEMBER.test(text)) return keep(context, incidentId, said, text.replace(REMEMBER, ''));
  const polite = readCourtesy(text);
  if (polite === 'thanks' && text !== '') return;
  const record = await context.deps.records.load(incidentId);
  if (!record) return;
  if (text === '' || polite !== null)
    return context.outbound.say(incidentId, answerSlot(said, await shortState(context, record)));
  // What is over takes no hints: whatever is said to me then is asked.
  if (isQuestion(text) || isEnded(record.incident.state)) return answerQuestion(context, record, said, text);
  return takeHint(context, incidentId, said, text);
}

/** Asked by name, as one asks a person: “sentry, who has it?”. */
const BY_NAME = /^\s*@?sentry\s*[,:]\s*(.+)$/is;

/**
 * A reply in an incident's thread without a mention is people talking, unless it asks or stops Sentry by its name, or says that it is a
 * hint or to be remembered.
 */
export async function answerReply(context: SlackContext, said: Said): Promise<void> {
  const incidentId = await incidentOf(context, said);
  if (!incidentId) return;
  const asked = BY_NAME.exec(said.text)?.[1]?.trim() ?? '';
  if (isQuestion(asked) || readOrder(asked, { inThread: true })?.verb === 'stop')
    return answerMention(context, { ...said, text: asked });
  await noteWriter(context, incidentId, said);
  if (HINT.test(said.text)) await takeHint(context, incidentId, said, said.text.replace(HINT, ''));
  else if (REMEMBER.test(said.text)) await keep(context, incidentId, said, said.text.replace(REMEMBER, ''));
}

/** Somebody is at it: nobody needs to be called for what was until now. */
async function noteWriter({ deps, directory }: SlackContext, id: IncidentId, said: Said): Promise<void> {
  const may = await directory.mayAct(said.userId, said.teamId);
  if (may.ok) await deps.escalation.wrote(id, said.userId);
}

async function incidentOf(context: SlackContext, said: Said): Promise<IncidentId | null> {
  return said.threadTs ? context.deps.records.findByThread(said.channel, said.threadTs) : null;
}

/**
 * The record answers what it can, shortly and alone. Else the model is asked, below how the incident stands; without one it is
 * said that there is none. The whole story is nobody's answer in public: `/sentry why` tells it to who asks.
 */
async function answerQuestion(
  context: SlackContext,
  record: IncidentRecord,
  said: Said,
  text: string,
): Promise<void> {
  const { outbound, directory } = context;
  const { questions } = context.deps;
  const { id } = record.incident;
  const { channel, ts, userId: by } = said;
  const { ok: mayLook } = await directory.mayLook(by, said.teamId);
  const question = {
    channel,
    ts,
    threadTs: said.threadTs ?? ts,
    direct: false,
    incidentId: id,
    by,
    text,
  };
  const before = await questions.before(question);
  const readers = { userId: by, channel, alone: false, mayLook };
  const known = await shortAnswer(context, record, text, readers, before);
  if (known) await questions.note(question);
  if (isMerged(record.incident))
    return outbound.say(
      id,
      answerSlot(said, await withPointer(context, record, known ?? (await shortState(context, record)))),
    );
  if (known) return outbound.say(id, answerSlot(said, known));
  if (!questions.hasModel || !mayLook)
    return outbound.say(id, answerSlot(said, sayText(onlyTheRecord(questions.hasModel))));
  await outbound.say(id, answerSlot(said, briefOf(record, null)));
  await questions.ask(question);
}

/** What is of this incident is answered in its thread; the rest to who asks, who may pass it on. What is being answered there ends with a *stop*. */
async function takeCommand(
  context: SlackContext,
  id: IncidentId,
  said: Said,
  { name, text, forAll }: Spoken,
): Promise<void> {
  const may = await context.directory.mayAct(said.userId, said.teamId);
  if (may.ok && name === 'stop' && said.threadTs)
    await context.deps.questions.stop(said.channel, said.threadTs);
  const say = await command(context, said, text);
  if (!forAll) return answer(context, said, say);
  await context.outbound.say(id, answerSlot(said, { ...say, text: await context.withNames(say.text) }));
}

/** As if it had been typed: commands cannot be typed in threads, there they are said. */
const command = (context: SlackContext, said: Said, text: string): Promise<Say> =>
  sentryCommand(context, { ...said, text, say: () => undefined });

/** Something said to be looked at, as *Investigate this* does it in a thread. */
export async function hintInThread(context: SlackContext, id: IncidentId, said: Said): Promise<void> {
  await noteWriter(context, id, said);
  await takeHint(context, id, said, said.text);
}

async function takeHint(context: SlackContext, id: IncidentId, said: Said, text: string): Promise<void> {
  const record = await context.deps.records.load(id);
  if (record !== null && isMerged(record.incident))
    return context.outbound.say(id, answerSlot(said, await withPointer(context, record, null)));
  const may = await context.directory.mayAct(said.userId, said.teamId);
  const taken = may.ok ? await context.deps.hint(id, said.userId, text.trim()) : may;
  const answer = taken.ok ? taken.text : taken.reason;
  await context.outbound.say(id, answerSlot(said, sayText(answer)));
}

/** Under what is answered where nothing is looked into: where that is done. */
async function withPointer(
  context: SlackContext,
  { incident }: IncidentRecord,
  say: Say | null,
): Promise<Say> {
  const lead = incident.mergedInto === null ? null : await context.deps.records.incident(incident.mergedInto);
  const url =
    lead?.channel && lead.threadTs ? messageUrl(context.identity(), lead.channel, lead.threadTs) : null;
  const name = incident.mergedInto ?? '';
  const before = `${incident.id} is part of `;
  const after = `, which is looked into: say it there, or press “Split” above to have ${incident.id} looked into by itself.`;
  return {
    text: `${say === null ? '' : `${say.text}\n`}${before}${name}${after}`,
    blocks: [
      ...(say?.blocks ?? (say === null ? [] : [prose(paragraph(words(say.text)))])),
      prose(paragraph(words(before), url ? link(url, name) : words(name), words(after))),
    ],
  };
}

/** “remember: …” in an incident's thread: a draft of that incident, which can be proposed for everybody. */
async function keep(context: SlackContext, id: IncidentId, said: Said, text: string): Promise<void> {
  const { memory, records } = context.deps;
  const may = await context.directory.mayAct(said.userId, said.teamId);
  const incident = (await records.load(id))?.incident ?? null;
  const say = may.ok ? await remember(memory, { userId: said.userId, incident, text }) : sayText(may.reason);
  await context.outbound.say(id, answerSlot(said, say));
}

async function answerElsewhere(context: SlackContext, said: Said): Promise<void> {
  const spoken = readCommand(said.text, COMMANDS, { incident: null, inThread: false });
  // Told again after a crash, it opens nothing more.
  if (spoken?.name === 'investigate')
    return context.tell(said, await openFor(context, said, spoken.text.replace(/^\S+\s+/, '')));
  if (spoken) return answer(context, said, await command(context, said, spoken.text));
  const named = said.text.split(/[\s,.;:!?]+/).find((word) => /^inc-\d+$/i.test(word));
  const id = named ? parseIncidentId(named) : undefined;
  const found = id ? await context.deps.records.load(id) : null;
  const record =
    found && (await context.access.mayRead(said.userId, found.incident, said.channel)) ? found : null;
  if (id && !record) return context.tell(said, sayText(notToSee(id)));
  if (!record && asksForOpen(said.text))
    return answer(context, said, await command(context, said, 'incidents open'));
  const of = record ? null : changesAskedOf(context, said.text);
  if (of !== null) return answer(context, said, await command(context, said, `changes ${of}`));
  const { ok: mayLook } = await context.directory.mayLook(said.userId, said.teamId);
  const readers = { userId: said.userId, channel: said.channel, alone: true, mayLook };
  const known =
    record && named !== said.text.trim() ? await shortAnswer(context, record, said.text, readers) : null;
  if (known || !record) return context.tell(said, known ?? (await openOrHelp(context, said)));
  await answer(context, said, await command(context, said, `why ${record.incident.id}`));
}

/** Of which system, or of all of them (''), the changes are asked for outside of any incident; null: something else is. */
function changesAskedOf({ deps }: SlackContext, text: string): string | null {
  const targets = deps.home.targets();
  if (!isQuestion(text) || asksForChanges(text, targets)?.asks !== 'what') return null;
  return targets.find((name) => text.toLowerCase().includes(name.toLowerCase())) ?? '';
}

/** More than a greeting is something to look into; one word may be a command's name with a slip in it. */
async function openOrHelp(context: SlackContext, said: Said): Promise<Say> {
  const text = said.text.trim();
  if (text === '' || readCourtesy(text) !== null || /^help\b/i.test(text)) return helpSay();
  return /\s/.test(text) ? openFor(context, said, text) : command(context, said, text);
}

const openFor = (context: SlackContext, said: Said, text: string): Promise<Say> =>
  createManualIncident(context, { ...said, text, key: `${said.channel}:${said.ts}` });

/** Named after what it answers: told again after a crash, it is not posted again. */
function answerSlot(said: Said, say: Say): Slot {
  return { slot: `answer:${said.ts}`, inThread: true, text: escape(say.text), blocks: say.blocks ?? [] };
}
