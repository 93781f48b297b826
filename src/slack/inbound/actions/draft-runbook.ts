import { messageOf } from '../../../core/errors.ts';
import { type IncidentId, parseIncidentId } from '../../../core/ids.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { formatPrincipals } from '../../../core/principal.ts';
import { draftRunbook } from '../../../incidents/draft-runbook.ts';
import { conversationStore, type MemoryDocument } from '../../../memory/documents/document.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { readerHere } from '../../people/reader.ts';
import { button, buttons, paragraph, prose, words } from '../../views/blocks/build.ts';
import { MEMORY_ACTIONS } from '../../views/blocks/promotion-card.ts';
import { cut } from '../../views/blocks/text.ts';
import { notToSee } from '../commands/command.ts';
import type { Pressed } from './pressed.ts';
import { refusal } from './remember.ts';

/** *Draft runbook*: the draft that this incident has, else one made from its record; who presses is shown it, and who promotes it. */
export async function showDraft(context: SlackContext, { audience, teamId, value }: Pressed): Promise<void> {
  const id = parseIncidentId(value);
  if (!id) return context.tell(audience, { text: 'I do not know this button any more. Nothing was done.' });
  try {
    const may = await context.directory.mayAct(audience.userId, teamId);
    await context.tell(audience, may.ok ? await draftOf(context, id, audience) : { text: may.reason });
  } catch (error) {
    context.deps.log.error({ incident: id, error: messageOf(error) }, 'a runbook could not be drafted');
    await context.tell(audience, { text: 'That did not work. Press again in a minute.' });
  }
}

async function draftOf(
  context: SlackContext,
  id: IncidentId,
  { userId, channel }: Pressed['audience'],
): Promise<Say> {
  const record = await context.deps.records.load(id);
  if (record === null || !(await context.access.mayRead(userId, record.incident, channel)))
    return sayText(notToSee(id));
  const { memory } = context.deps;
  const drafts = await memory.documents.list(readerHere(userId, id), { store: conversationStore });
  const there = drafts.find(({ incidentId, docType }) => incidentId === id && docType === 'runbook');
  return there ? draftSay(context, there) : make(context, record);
}

/** By Sentry and not by who presses: they have not written a word of it. The same record makes the same draft, once. */
async function make(context: SlackContext, record: IncidentRecord): Promise<Say> {
  const { id, domain, detailsDeletedAt } = record.incident;
  if (detailsDeletedAt !== null)
    return sayText(
      `The details of ${id} were deleted for their age: there is nothing to draft a runbook from.`,
    );
  const draft = draftRunbook(record);
  if (draft === null) return sayText(`Nothing was found out in ${id} yet that a runbook could say.`);
  const written = await context.deps.memory.documents.write(
    { kind: 'agent', role: 'supervisor', incidentId: id },
    {
      place: { store: conversationStore, incidentId: id },
      document: { ...draft, docType: 'runbook', domain },
      sources: [{ kind: 'incident', ref: id }],
    },
  );
  return written.ok ? draftSay(context, written.document) : refusal(written);
}

async function draftSay(
  context: SlackContext,
  { id, title }: Pick<MemoryDocument, 'id' | 'title'>,
): Promise<Say> {
  const text = await context.withNames(
    `A draft of a runbook: “${cut(title, 120)}”. Other incidents go by it once it is proposed and an admin has promoted it: ${formatPrincipals(context.deps.memory.admins)}.`,
  );
  return {
    text,
    blocks: [
      prose(paragraph(words(text))),
      buttons(
        button({ text: 'Show it', action: MEMORY_ACTIONS.document, value: id }),
        button({ text: 'Propose for everybody', action: MEMORY_ACTIONS.propose, value: id }),
      ),
    ],
  };
}
