import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { OpsError } from '../core/errors.ts';
import type { Decided, PromotionDecision } from '../memory/promotion/decide.ts';
import type { Promotion } from '../memory/promotion/ports.ts';
import { systemLine } from '../memory/systems/system-facts.ts';
import { printList } from './print-list.ts';
import { notAdminHint, withWorkspace } from './with-workspace.ts';

const list = new Command('list')
  .description('List proposals that wait for a decision, oldest first.')
  .option('--all', 'also decided ones', false)
  .option('--json', 'one JSON line a proposal', false)
  .action(async ({ all, json }: { readonly all: boolean; readonly json: boolean }) => {
    const found = await withWorkspace(({ promotions }) => promotions.list({ pending: !all, limit: 200 }));
    printList(found, json, line, 'No proposals.\n');
  });

const show = new Command('show')
  .description('Show a proposal: what it says, where it came from, what it would replace.')
  .argument('<id>', 'its id, dream_…')
  .option('--json', 'as one JSON document', false)
  .action(async (id: string, { json }: { readonly json: boolean }) => {
    const found = await withWorkspace(({ promotions }) => promotions.get(id));
    if (!found) throw notFound(id);
    process.stdout.write(json ? `${JSON.stringify(found, null, 2)}\n` : `${formatPromotion(found)}\n`);
  });

const approve = new Command('approve')
  .description('Approve a proposal: what it says becomes part of everybody’s memory.')
  .argument('<id>', 'its id, dream_…')
  .requiredOption(
    '--as <user>',
    'the Slack user id of the admin who decides; one of the admins of /sentry settings or SENTRY_ADMINS',
  )
  .option('--edited <file>', 'approve this text instead of the proposed one')
  .option('--over <sha256>', 'the workspace document you have seen, when it has changed since the proposal')
  .action((id: string, options: { readonly as: string; readonly edited?: string; readonly over?: string }) =>
    decide({
      jobId: id,
      by: options.as,
      decision: {
        kind: 'approve',
        ...(options.edited === undefined ? {} : { content: readFileSync(options.edited, 'utf8') }),
      },
      ...(options.over === undefined ? {} : { currentSha256: options.over }),
    }),
  );

const reject = new Command('reject')
  .description('Reject a proposal. The draft stays where it is.')
  .argument('<id>', 'its id, dream_…')
  .requiredOption(
    '--as <user>',
    'the Slack user id of the admin who decides; one of the admins of /sentry settings or SENTRY_ADMINS',
  )
  .requiredOption('--reason <text>', 'why; whoever proposed it will read it')
  .action((id: string, options: { readonly as: string; readonly reason: string }) =>
    decide({ jobId: id, by: options.as, decision: { kind: 'reject', reason: options.reason } }),
  );

async function decide(decision: PromotionDecision): Promise<void> {
  const decided: Decided = await withWorkspace(({ promotions }) => promotions.decide(decision));
  if (!decided.ok)
    throw new OpsError(decided.code === 'MEMORY_NOT_FOUND' ? 'NOT_FOUND' : decided.code, decided.reason, {
      hint:
        hints[decided.code] ?? `Nothing was decided. "sentry promotions show ${decision.jobId}" shows it.`,
    });
  const { document, promotion } = decided;
  process.stdout.write(
    document
      ? `Approved: ${document.store}/${document.path}, version ${document.version}. It reaches Chroma when the bot next does.\n`
      : `Rejected: ${promotion.reason ?? ''}\n`,
  );
}

const hints: Readonly<Record<string, string>> = {
  NOT_ADMIN: notAdminHint,
  MEMORY_DRY_RUN: 'Start Sentry: it tries them within seconds and shows on the card what came of it.',
  MEMORY_STALE: 'Look at it again (sentry promotions show), then say which text you have seen by --over.',
};

function notFound(id: string): OpsError {
  return new OpsError('NOT_FOUND', `There is no proposal "${id}".`, {
    hint: 'sentry promotions list shows those that wait.',
  });
}

function line({ jobId, state, proposedAt, domain, target, title, incidentId }: Promotion): string {
  return [
    jobId,
    proposedAt.slice(0, 16).replace('T', ' '),
    state.padEnd(8),
    domain.padEnd(10),
    (incidentId ?? '-').padEnd(8),
    `${target.store}/${target.path}`,
    title,
  ].join('  ');
}

function formatPromotion(one: Promotion): string {
  return [
    `${one.jobId}: ${one.title} (${one.docType})`,
    `${one.state}${one.decidedBy ? ` by ${one.decidedBy} at ${one.decidedAt ?? ''}${one.reason ? `: ${one.reason}` : ''}` : ''}`,
    `Proposed by ${one.proposedBy} in ${one.incidentId ?? 'no incident'} at ${one.proposedAt}, for ${one.domain}: ${one.rationale}`,
    `Sources: ${one.sources.map(({ kind, ref }) => `${kind} ${ref}`).join(', ') || 'none named'}`,
    ...(one.system ? [`Learnt on: ${systemLine(one.system)}`] : []),
    `Would stand at ${one.target.store}/${one.target.path}; ${one.current ? `there stands now (sha256 ${one.current.sha256}):\n\n${one.current.content}` : 'nothing is there.'}`,
    `\nProposed text (version ${one.version}, sha256 ${one.sha256}):\n\n${one.content}`,
  ].join('\n');
}

export const promotionsCommand = new Command('promotions')
  .description('Decide what drafts become part of everybody’s memory.')
  .addCommand(list, { isDefault: true })
  .addCommand(show)
  .addCommand(approve)
  .addCommand(reject);
