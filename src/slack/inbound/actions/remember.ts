import type { Refusal } from '../../../core/errors.ts';
import type { IncidentId } from '../../../core/ids.ts';
import type { Domain } from '../../../core/incident.ts';
import { storable } from '../../../core/storable.ts';
import { conversationStore } from '../../../memory/documents/document.ts';
import type { NewDocument } from '../../../memory/documents/new-document.ts';
import type { WriteResult } from '../../../memory/documents/write-document.ts';
import { sha256 } from '../../../safety/sha256.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import type { SlackMemory } from '../../ports.ts';
import { button, buttons, paragraph, prose, words } from '../../views/blocks/build.ts';
import { MEMORY_ACTIONS } from '../../views/blocks/promotion-card.ts';
import { cut, oneLine } from '../../views/blocks/text.ts';

export interface Remembering {
  readonly userId: string;
  /** The incident in whose thread it was said: then everybody who takes part in it has it. Null: only the person. */
  readonly incident: { readonly id: IncidentId; readonly domain: Domain } | null;
  readonly text: string;
}

/**
 * Keeps what a person asked to be remembered: in an incident's thread for that incident, elsewhere for them alone. The same
 * words again are the same document. Refused like every write, with the kinds the scanner found and never the text.
 */
export async function remember(memory: SlackMemory, { userId, incident, text }: Remembering): Promise<Say> {
  const content = storable(text).trim();
  if (content === '') return sayText('Tell me what to remember: /sentry memory remember <text>');
  const store = incident ? conversationStore : await memory.documents.ensureUserStore(userId);
  const written = await memory.documents.write(
    { kind: 'user', userId, incidentId: incident?.id ?? null },
    {
      place: { store, incidentId: incident?.id ?? null },
      document: noteOf(content, incident?.domain ?? null),
      sources: incident ? [{ kind: 'incident', ref: incident.id }] : [],
    },
  );
  return written.ok ? thanks(written, incident?.id ?? null) : refusal(written);
}

export type Written = Extract<WriteResult, { readonly ok: true }>;

/** Named after its words, so that saying it twice keeps it once. */
function noteOf(content: string, domain: Domain | null): NewDocument {
  const title = cut(oneLine(content), 120);
  const slug = (title.toLowerCase().match(/[a-z0-9]+/g) ?? []).slice(0, 6).join('-').slice(0, 48);
  const hash = sha256(content).slice(0, 8);
  return { path: `notes/${slug === '' ? '' : `${slug}-`}${hash}`, title, content, docType: 'note', domain };
}

function thanks(written: Written, incidentId: IncidentId | null): Say {
  const { document } = written;
  const kept = incidentId
    ? `Remembered for ${incidentId}: “${cut(document.title, 200)}”. Everybody in this thread has it, and so has the investigation.`
    : `Remembered for you alone: “${cut(document.title, 200)}”.`;
  const said = warned(kept, written);
  const show = button({ text: 'Show it', action: MEMORY_ACTIONS.document, value: document.id });
  const propose = button({
    text: 'Propose for everybody',
    action: MEMORY_ACTIONS.propose,
    value: document.id,
  });
  return {
    text: said,
    blocks: [prose(paragraph(words(said))), buttons(...(incidentId ? [propose, show] : [show]))],
  };
}

/** What was done, and what the writer should know of it. */
export const warned = (done: string, { warning }: Pick<Written, 'warning'>): string =>
  warning === undefined ? done : `${done} ${warning}`;

export function refusal({ code, reason }: Refusal): Say {
  return sayText(code === 'MEMORY_WRITE_BLOCKED' ? `${reason} Nothing was kept.` : reason);
}
