import type { types } from '@slack/bolt';
import type { Domain } from '../../core/incident.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import { docTypes, type MemoryDocument, type MemoryVersion } from '../../memory/documents/document.ts';
import { systemLine } from '../../memory/systems/system-facts.ts';
import {
  AT,
  type Block,
  bold,
  button,
  buttons,
  code,
  list,
  moment,
  paragraph,
  person,
  prose,
  type Span,
  small,
  words,
} from './blocks/build.ts';
import { kindOf, MEMORY_ACTIONS } from './blocks/promotion-card.ts';
import { cut, oneLine } from './blocks/text.ts';
import { choice, form, longField, textField } from './form.ts';
import { modal } from './modal.ts';
import { boxes, noticeView } from './promotion-views.ts';

export const PROPOSE_VIEW = 'sentry_memory_propose';
export const DOCUMENT_EDIT_VIEW = 'sentry_memory_document_edit';
export const PROPOSAL = { title: 'title', type: 'type', domain: 'domain', text: 'text', why: 'why' } as const;

const SHOWN_VERSIONS = 12;

export interface DocumentContext {
  readonly documentId: string;
  /** Of the text that was given to be edited. */
  readonly sha256: string;
  readonly glue: string;
  readonly channel: string;
  readonly threadTs: string | null;
}

/** A document with its history; `admin`: with what an admin may do to a workspace document. */
export function documentView(
  document: MemoryDocument,
  versions: readonly MemoryVersion[],
  options: { readonly admin: boolean; readonly note?: string },
): types.ModalView {
  const own = options.admin && document.scope === 'workspace';
  return modal('Memory', [
    ...(options.note ? [prose(paragraph(bold(options.note)))] : []),
    prose(
      paragraph(bold(cut(oneLine(document.title), 200))),
      paragraph(
        code(`${document.store}/${document.path}`),
        words(
          ` · ${kindOf(document)} · ${trustLabels[document.trust]}${document.retiredAt ? ' · retired' : ''}`,
        ),
      ),
    ),
    ...boxes(document.content),
    ...(own ? [adminButtons(document)] : []),
    prose(
      paragraph(bold('History')),
      list(versions.slice(0, SHOWN_VERSIONS).map((version) => historyLine(version))),
    ),
    ...(own ? rollBacks(document, versions) : []),
    small(
      `${document.id} · SHA-256 ${document.sha256.slice(0, 16)}…${document.system ? ` · learnt on ${cut(oneLine(systemLine(document.system)), 500)}` : ''}`,
    ),
  ]);
}

export const trustLabels: Readonly<Record<MemoryDocument['trust'], string>> = {
  admin_approved: 'approved by an admin',
  system_seeded: 'came with Sentry',
  user_authored: 'written by a person',
  agent_draft: 'a draft, reviewed by nobody',
};

function adminButtons(document: MemoryDocument): Block {
  return buttons(
    button({ text: 'Edit', action: MEMORY_ACTIONS.documentEdit, value: document.id }),
    ...(document.retiredAt
      ? []
      : [
          button({
            text: 'Retire',
            action: MEMORY_ACTIONS.retire,
            value: document.id,
            style: 'danger',
            confirm: {
              title: 'Retire this document?',
              text: 'Nobody finds it any more, and no investigation uses it. Its history stays, and rolling back brings it back.',
              yes: 'Retire it',
            },
          }),
        ]),
  );
}

function historyLine({ number, author, at, trust }: MemoryVersion): readonly Span[] {
  return [
    words(`version ${number} by `),
    isSlackUser(author) ? person(author) : words(author),
    words(' at '),
    moment(at, AT),
    words(`, ${trustLabels[trust]}`),
  ];
}

/** Older versions, each to be said again. Slack takes 25 buttons in a row. */
function rollBacks(document: MemoryDocument, versions: readonly MemoryVersion[]): readonly Block[] {
  const older = versions
    .filter(({ number }) => number !== document.version || document.retiredAt !== null)
    .slice(0, SHOWN_VERSIONS);
  if (older.length === 0) return [];
  return [
    buttons(
      ...older.map(({ number }) =>
        button({
          text: `Back to version ${number}`,
          action: `${MEMORY_ACTIONS.rollBack}_${number}`,
          value: `${document.id}:${number}`,
        }),
      ),
    ),
  ];
}

export function editDocumentView(
  where: Omit<DocumentContext, 'documentId' | 'sha256' | 'glue'>,
  document: MemoryDocument,
  text: string = document.content,
  problem: string | null = null,
): types.ModalView {
  const field = longField(PROPOSAL.text, 'Text (Markdown)', text);
  if (!field) return noticeView('Too long', 'The text is too long for a window: edit it over the admin API.');
  const { id: documentId, sha256 } = document;
  return form({
    callback: DOCUMENT_EDIT_VIEW,
    title: 'Edit memory',
    submit: 'Save',
    metadata: { ...where, documentId, sha256, glue: field.glue } satisfies DocumentContext,
    blocks: [
      ...(problem ? [prose(paragraph(bold('Not taken: '), words(cut(oneLine(problem), 1_500))))] : []),
      prose(
        paragraph(
          bold(cut(oneLine(document.title), 200)),
          words(' '),
          code(`${document.store}/${document.path}`),
        ),
      ),
      ...field.blocks,
    ],
  });
}

/** What somebody has to add to a note so that an admin can judge it. Null: too long for a window. */
export function proposeView(
  where: Omit<DocumentContext, 'documentId' | 'sha256' | 'glue'>,
  document: MemoryDocument,
  domain: Domain,
  domains: readonly Domain[],
): types.ModalView {
  const field = longField(PROPOSAL.text, 'Text (Markdown; a runbook may have steps)', document.content);
  if (!field) return noticeView('Too long', 'The text is too long for a window. Propose a shorter one.');
  const { id: documentId, sha256 } = document;
  const named = (names: readonly string[]) =>
    names.map((value) => ({ text: kindOf({ docType: value }), value }));
  return form({
    callback: PROPOSE_VIEW,
    title: 'Propose for everybody',
    submit: 'Propose',
    metadata: { ...where, documentId, sha256, glue: field.glue } satisfies DocumentContext,
    blocks: [
      textField({ id: PROPOSAL.title, label: 'Title', value: document.title, lines: 'one', max: 200 }),
      ...field.blocks,
      choice(
        PROPOSAL.type,
        'Kind',
        named(docTypes.filter((type) => type !== 'user_preference')),
        document.docType,
      ),
      choice(PROPOSAL.domain, 'For incidents of', named(domains), domain),
      textField({ id: PROPOSAL.why, label: 'Why will it help others?', max: 1_000 }),
    ],
  });
}
