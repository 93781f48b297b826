import { messageOf, type Refusal, refuse } from '../../../core/errors.ts';
import type { Domain } from '../../../core/incident.ts';
import type { DocType, MemoryDocument } from '../../../memory/documents/document.ts';
import { meansToBeRunbook } from '../../../memory/promotion/check-runbook.ts';
import type { SlackContext } from '../../context.ts';
import { codeOf } from '../../outbound/web-errors.ts';
import { isAdminNow, readerHere, readFor } from '../../people/reader.ts';
import type { SlackMemory } from '../../ports.ts';
import { type Entered, readField, readLongField } from '../../views/form.ts';
import {
  type DocumentContext,
  documentView,
  editDocumentView,
  PROPOSAL,
  proposeView,
} from '../../views/memory-views.ts';
import { noticeView } from '../../views/promotion-views.ts';
import type { Pressed } from './pressed.ts';
import { type Written, warned } from './remember.ts';
import { show } from './show.ts';

const gone = refuse('MEMORY_NOT_FOUND', 'There is no such document that you may read.');

/** *Show it*: a document with its history. */
export const showDocument = (context: SlackContext, pressed: Pressed): Promise<void> =>
  show(
    context,
    pressed,
    'Memory',
    async () => (await windowOf(context, pressed.userId, pressed.value)) ?? gone.reason,
  );

export const retireDocument = (context: SlackContext, pressed: Pressed): Promise<void> =>
  change(context, pressed, pressed.value, 'Retired.', () => retire(context, pressed.userId, pressed.value));

/** An admin what is everybody's, anybody what is theirs; what they may not read is not there for them. */
export async function retire(
  context: SlackContext,
  userId: string,
  documentId: string,
): Promise<{ readonly ok: true } | Refusal> {
  const { memory } = context.deps;
  const document = await readFor(context, userId, documentId);
  if (!document) return gone;
  return document.scope === 'workspace'
    ? memory.workspace.retire(userId, documentId)
    : memory.documents.retire(userId, documentId);
}

/** Value `doc_…:<version>`. */
export const rollBackDocument = (context: SlackContext, pressed: Pressed): Promise<void> => {
  const [id = '', version = '0'] = pressed.value.split(':');
  return change(context, pressed, id, `It says again what version ${version} said.`, (memory) =>
    memory.workspace.rollBack(pressed.userId, id, Number(version)),
  );
};

/** Admins alone: nobody else's text would be taken. */
export const editDocument = async (context: SlackContext, pressed: Pressed): Promise<void> =>
  (await isAdminNow(context, pressed.userId))
    ? open(context, pressed, (document, where) => editDocumentView(where, document))
    : context.tell(pressed.audience, { text: 'Only admins change what everybody’s memory says.' });

export const proposeDocument = (context: SlackContext, pressed: Pressed): Promise<void> =>
  open(context, pressed, async (document, where) => {
    const { records, memory } = context.deps;
    const incident = document.incidentId ? (await records.load(document.incidentId))?.incident : null;
    return proposeView(where, document, document.domain ?? incident?.domain ?? '', memory.domains);
  });

/** Saves an admin's text; one that is not taken comes back in the window, with why. */
export async function documentEdited(
  context: SlackContext,
  by: Person,
  viewId: string,
  where: DocumentContext,
  values: Entered,
): Promise<void> {
  const { memory } = context.deps;
  const content = readLongField(values, PROPOSAL.text, where.glue);
  const { documentId, sha256 } = where;
  const saved = await attempt<Written>(context, by, async () =>
    memory.workspace.edit({ by: by.userId, documentId, content, base: sha256 }),
  );
  const document = await memory.workspace.read(documentId);
  const view = saved.ok
    ? await windowOf(context, by.userId, documentId, warned('Saved.', saved))
    : document && (await isAdminNow(context, by.userId))
      ? editDocumentView(where, document, content, saved.reason)
      : noticeView('Not saved', saved.reason);
  await context.client.views
    .update({ view_id: viewId, view: view ?? noticeView('Saved', 'It is saved.') })
    .catch((error: unknown) => {
      context.deps.log.warn({ code: codeOf(error) }, 'a window was closed before its answer');
      const text = saved.ok ? warned('Saved, as you have edited it.', saved) : saved.reason;
      return context.tell(
        { userId: by.userId, channel: where.channel || null, threadTs: where.threadTs },
        { text },
      );
    });
}

interface Person {
  readonly userId: string;
  readonly teamId: string | null;
}

/** Writes what was changed in the window as a new version, and asks the admins for it. The refusal is for the window. */
export async function proposed(
  context: SlackContext,
  by: Person,
  where: DocumentContext,
  values: Entered,
): Promise<{ readonly ok: true } | Refusal> {
  const { memory } = context.deps;
  const answer = await attempt(context, by, async () => {
    const document = await readFor(context, by.userId, where.documentId);
    if (!document?.incidentId) return gone;
    const content = readLongField(values, PROPOSAL.text, where.glue);
    const type = readField(values, PROPOSAL.type) as DocType;
    const written = await memory.documents.write(
      { kind: 'user', userId: by.userId, incidentId: document.incidentId },
      {
        place: { store: document.store, incidentId: document.incidentId },
        document: {
          path: document.path,
          title: readField(values, PROPOSAL.title),
          content,
          // A note that has grown steps is a runbook, whoever forgot to say so.
          docType: type === 'note' && meansToBeRunbook(content) ? 'runbook' : type,
          domain: readField(values, PROPOSAL.domain) as Domain,
        },
        sources: [{ kind: 'incident', ref: document.incidentId }],
        // What this window wrote at a try that was refused is no other person's edit.
        base: document.author === by.userId ? document.sha256 : where.sha256,
      },
    );
    if (!written.ok) return written;
    return memory.promotions.propose(readerHere(by.userId, document.incidentId), {
      ref: { id: document.id },
      rationale: readField(values, PROPOSAL.why),
      domain: readField(values, PROPOSAL.domain) as Domain,
      by: by.userId,
    });
  });
  return answer.ok ? { ok: true } : answer;
}

/** People only, of this workspace; a fault is a refusal that says so. */
async function attempt<T extends { readonly ok: true }>(
  context: SlackContext,
  by: Person,
  doing: () => Promise<T | Refusal>,
): Promise<T | Refusal> {
  try {
    const may = await context.directory.mayAct(by.userId, by.teamId);
    return may.ok ? await doing() : may;
  } catch (error) {
    context.deps.log.error({ error: messageOf(error) }, 'memory could not be changed');
    return refuse(
      'NOT_RECORDED',
      'It could not be recorded. Nothing has changed. Please try again in a moment.',
    );
  }
}

async function windowOf(context: SlackContext, userId: string, documentId: string, note?: string) {
  const document = await readFor(context, userId, documentId);
  const { memory } = context.deps;
  if (!document) return null;
  const versions = await memory.documents.history(readerHere(userId, document.incidentId), {
    id: documentId,
  });
  const admin = document.scope === 'workspace' && (await isAdminNow(context, userId));
  return documentView(document, versions, { admin, ...(note ? { note } : {}) });
}

/** Does it, and shows what is there now in the same window. */
async function change(
  context: SlackContext,
  pressed: Pressed,
  documentId: string,
  done: string,
  doing: (memory: SlackMemory) => Promise<{ readonly ok: true } | Refusal>,
): Promise<void> {
  const { memory } = context.deps;
  const answer = await attempt(context, pressed, () => doing(memory));
  const note = answer.ok ? done : answer.reason;
  const view = pressed.viewId ? await windowOf(context, pressed.userId, documentId, note) : null;
  if (!view || !pressed.viewId) return context.tell(pressed.audience, { text: note });
  await context.client.views.update({ view_id: pressed.viewId, view });
}

async function open(
  context: SlackContext,
  pressed: Pressed,
  make: (
    document: MemoryDocument,
    where: { readonly channel: string; readonly threadTs: string | null },
  ) => ReturnType<typeof noticeView> | Promise<ReturnType<typeof noticeView>>,
): Promise<void> {
  const { client, deps } = context;
  const { channel, threadTs } = pressed.audience;
  const may = await context.directory.mayAct(pressed.userId, pressed.teamId);
  if (!may.ok) return context.tell(pressed.audience, { text: may.reason });
  const document = await readFor(context, pressed.userId, pressed.value);
  if (!document) return context.tell(pressed.audience, { text: gone.reason });
  const view = await make(document, { channel: channel ?? '', threadTs });
  const opening = pressed.viewId ? client.views.push : client.views.open;
  await opening.call(client.views, { trigger_id: pressed.triggerId, view }).catch((error: unknown) => {
    deps.log.warn({ code: codeOf(error) }, 'a window did not open');
    return context.tell(pressed.audience, {
      text: 'The window did not open in time. Please press the button again.',
    });
  });
}
