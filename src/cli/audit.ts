import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { asCheckpoint, type Checkpoint, openCheckpointKey } from '../safety/audit/audit-checkpoint.ts';
import { type ChainEntry, parsedBody, readChain, verifyAuditLog } from '../safety/audit/audit-verify.ts';
import { readWitnessed } from '../safety/audit/audit-witness.ts';
import { exitCodes } from './fail.ts';
import { wholeNumber } from './whole-number.ts';
import { withStore } from './with-store.ts';

const whole = wholeNumber();

function checkpoints(text: string, before: readonly Checkpoint[]): readonly Checkpoint[] {
  const checkpoint = asCheckpoint(parsedBody(text));
  if (!checkpoint)
    throw new InvalidArgumentError(
      'expected a checkpoint as posted: {"seq":…,"hash":…,"key":…,"signature":…}',
    );
  return [...before, checkpoint];
}

const verify = new Command('verify')
  .description(
    'Check every link of the audit log; says the first entry that is not as it was written (exit code 1).',
  )
  .option('--checkpoint <json...>', 'also against these, as posted in the audit channel', checkpoints, [])
  .option('--json', 'the answer as one JSON line', false)
  .action(
    async ({ json, checkpoint }: { readonly json: boolean; readonly checkpoint: readonly Checkpoint[] }) => {
      const started = performance.now();
      const found = await withStore(({ sql }, { dataDir }) =>
        verifyAuditLog(sql, {
          key: openCheckpointKey(dataDir, { make: false }),
          witnessed: [...readWitnessed(dataDir), ...checkpoint],
        }),
      );
      if (!found.ok) process.exitCode = exitCodes.failed;
      if (json) {
        process.stdout.write(`${JSON.stringify(found)}\n`);
        return;
      }
      if (!found.ok) {
        process.stdout.write(`Bad at entry ${found.seq}: ${found.reason}\n`);
        return;
      }
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      const foreign = found.unchecked === 0 ? '' : `, ${found.unchecked} signed by keys that are not here`;
      process.stdout.write(
        `${found.entries} entries, ${found.checkpoints} signed checkpoints${foreign}: all as written (${seconds} s).\n`,
      );
    },
  );

const tail = new Command('tail')
  .description('The last entries of the audit log, oldest first, one JSON line each.')
  .option('-n, --lines <n>', 'how many', whole, 20)
  .option('-f, --follow', 'go on with what comes', false)
  .action(async ({ lines, follow }: { readonly lines: number; readonly follow: boolean }) => {
    await withStore(async ({ sql }) => {
      const [head] = await sql<{ seq: number }>`SELECT seq FROM audit_head`;
      let next = Math.max(1, (head?.seq ?? 0) - lines + 1);
      let going = true;
      // A database that was started for this is stopped again, too.
      process.once('SIGINT', () => {
        going = false;
      });
      do {
        for await (const entry of readChain(sql, { from: next })) {
          await write(entry);
          next = entry.seq + 1;
        }
        if (follow) await sleep(500);
      } while (follow && going);
    });
  });

const exported = new Command('export')
  .description(
    'The audit log, one JSON line an entry, with the hashes by which it can be verified elsewhere.',
  )
  .option('--from <n>', 'first entry', whole)
  .option('--to <n>', 'last entry', whole)
  .action(async (range: { readonly from?: number; readonly to?: number }) => {
    await withStore(async ({ sql }) => {
      for await (const entry of readChain(sql, range)) await write(entry);
    });
  });

async function write({ seq, prevHash, body, hash }: ChainEntry): Promise<void> {
  const line = `${JSON.stringify({ seq, entry: parsedBody(body), body, prevHash, hash })}\n`;
  // Whoever reads slowly gets all of it, without the whole log in memory here.
  if (!process.stdout.write(line)) await once(process.stdout, 'drain');
}

export const auditCommand = new Command('audit')
  .description('The hash-chained audit log: verify, tail, export.')
  .addCommand(verify)
  .addCommand(tail)
  .addCommand(exported);
