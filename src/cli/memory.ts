import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { count } from '../core/count.ts';
import { OpsError, type Refusal } from '../core/errors.ts';
import { parseIncidentId } from '../core/ids.ts';
import { clearMemory, type Forgotten, forgetIncident, forgetUser } from '../memory/documents/forget.ts';
import { seedStores } from '../memory/documents/seed-stores.ts';
import { memorySummary } from '../memory/documents/summary.ts';
import { exportMemory, importLine, MemoryLine } from '../memory/documents/transfer.ts';
import { systemLine } from '../memory/systems/system-facts.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { confirm } from './confirm.ts';
import { exitCodes } from './fail.ts';
import { withStore } from './with-store.ts';

const NOTHING_REMOVED = 'Nothing was removed.';

const summary = new Command('summary')
  .description('Say how much memory holds: episodes, documents, proposals, and what waits for Chroma.')
  .option('--json', 'as one JSON document', false)
  .action(async ({ json }: { readonly json: boolean }) => {
    const found = await withStore(({ sql }) => memorySummary(sql, null));
    if (json) {
      process.stdout.write(`${JSON.stringify(found)}\n`);
      return;
    }
    const { episodes, documents } = found;
    const lines = [
      `Episodes: ${episodes.total} (${episodes.succeeded} worked, ${episodes.failed} failed, ${episodes.unknown} unknown; ${episodes.archived} of them archived)`,
      `Documents: ${documents.map((one) => `${one.count} ${one.scope} ${one.trust}`).join(', ') || 'none'}; ${found.versions} versions`,
      `Proposals waiting: ${found.proposalsWaiting}`,
      `On the way to or out of Chroma: ${found.outbox}`,
      ...found.systems.map(({ target, facts }) => `System of ${target}: ${systemLine(facts)}`),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  });

const exportAll = new Command('export')
  .description('Write all episodes and documents with their histories as JSON lines to standard output.')
  .action(() =>
    withStore(async ({ sql }) => {
      for await (const line of exportMemory(sql))
        if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain');
    }),
  );

const importAll = new Command('import')
  .description(
    'Put an export back. What is there already stays; every document passes the safety scanner again.',
  )
  .argument('[file]', 'a file of JSON lines; standard input when left out')
  .action(async (file: string | undefined) => {
    const counts = { added: 0, 'already there': 0, refused: 0 };
    await withStore(async ({ sql }) => {
      const deps = { sql, audit: createAuditLog(sql) };
      await seedStores(sql);
      const input = file === undefined ? process.stdin : createReadStream(file);
      let number = 0;
      for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        number += 1;
        if (text.trim() === '') continue;
        const imported = await importLine(deps, readLine(text, number));
        if (typeof imported === 'string') counts[imported] += 1;
        else {
          counts.refused += 1;
          process.stderr.write(`line ${number}: ${imported.refused}\n`);
        }
      }
    });
    process.stdout.write(
      `${counts.added} added, ${counts['already there']} already there, ${counts.refused} refused.\n`,
    );
    if (counts.refused > 0) process.exitCode = exitCodes.failed;
  });

function readLine(text: string, number: number): MemoryLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new OpsError('BAD_IMPORT', `line ${number} is not JSON`, {
      hint: 'Import what "sentry memory export" wrote.',
      cause,
    });
  }
  const parsed = MemoryLine.safeParse(value);
  if (parsed.success) return parsed.data;
  const said = parsed.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'line'}: ${message}`);
  throw new OpsError('BAD_IMPORT', `line ${number}: ${said.join('; ')}`, {
    hint: 'Import what "sentry memory export" wrote. The lines before this one are in.',
  });
}

const clear = new Command('clear')
  .description('Remove all episodes and all documents but the conventions. Asks first; cannot be undone.')
  .option('--yes', 'do not ask', false)
  .action(async ({ yes }: { readonly yes: boolean }) => {
    await confirm(
      yes,
      'This removes all episodes and documents of this deployment. Export them first if in doubt.',
      'clear',
      NOTHING_REMOVED,
    );
    tell(await withStore(({ sql }) => clearMemory({ sql, audit: createAuditLog(sql) }, 'operator')));
  });

const forget = new Command('forget')
  .description(
    'Remove the text of one incident (INC-7) or one person (U0123) everywhere. Asks first; cannot be undone.',
  )
  .argument('<incident or user>', 'INC-7, 7 or a Slack user id')
  .option('--yes', 'do not ask', false)
  .action(async (who: string, { yes }: { readonly yes: boolean }) => {
    const incident = parseIncidentId(who);
    if (!incident && !/^[UW][A-Z0-9]{2,20}$/.test(who))
      throw new OpsError('USAGE', `"${who}" is neither an incident nor a Slack user id.`, {
        hint: 'An incident looks like INC-7, a user id like U0123ABCD.',
      });
    const name = incident ?? who;
    await confirm(
      yes,
      `This removes the text of ${name}: memory, its vectors, and the words in the record.`,
      name,
      NOTHING_REMOVED,
    );
    tell(
      await withStore(({ sql }) => {
        const deps = { sql, audit: createAuditLog(sql) };
        return incident ? forgetIncident(deps, incident, 'operator') : forgetUser(deps, who, 'operator');
      }),
    );
  });

function tell(result: Forgotten | Refusal): void {
  if (!result.ok)
    throw new OpsError(result.code, result.reason, {
      hint: 'sentry incidents lists them with their states.',
    });
  const { documents, versions, episodes, queuedForChroma } = result;
  process.stdout.write(
    `Removed ${count(documents, 'document')} (${count(versions, 'version')}) and ${count(episodes, 'episode')}. What is in Chroma (${queuedForChroma}) leaves it when the bot next reaches it.\n`,
  );
}

export const memoryCommand = new Command('memory')
  .description('Look after what Sentry remembers.')
  .addCommand(summary)
  .addCommand(exportAll)
  .addCommand(importAll)
  .addCommand(clear)
  .addCommand(forget);
