import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startProduct } from '../support/product.ts';
import { judge, type Played } from './judge.ts';
import { inOrder } from './order.ts';
import { playFaults, readFaults, type Stage, stageIn } from './play-faults.ts';
import { tellPlayed } from './tell-played.ts';

const HELP = `Plays the faults of the playground to their end and holds what Sentry says of them against the system itself.

  --fault A,B          these faults only; all of them without it
  --order listed|random
  --seed N             of the random order
  --at-once K          so many at the same time; 1 without it
  --attach DIR         a product that runs already, by its data folder; without it one is started with shipped defaults
  --data DIR           where the one that is started keeps its data
  --minutes N          how long an incident gets to end; 15 without it: a service may be restarted once in ten
  --reads-for S        how long a person reads a card before it is approved; 0 without it
  --verbose            prints each thread in full

Exits 1 when anything was untrue, did not end, or was left broken.
`;

const { values } = parseArgs({
  options: {
    fault: { type: 'string' },
    order: { type: 'string', default: 'listed' },
    seed: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '1' },
    attach: { type: 'string' },
    data: { type: 'string' },
    minutes: { type: 'string', default: '15' },
    'reads-for': { type: 'string', default: '0' },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
});

if (values.help === true) process.stdout.write(HELP);
else process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  if (values.attach !== undefined) return playOn(stageIn(resolve(values.attach)));
  const dataDir = resolve(values.data ?? mkdtempSync(join(tmpdir(), 'sentry-play-')));
  mkdirSync(dataDir, { recursive: true });
  const product = await startProduct({ dataDir });
  try {
    process.stdout.write(`${product.pageUrl ?? ''} · data in ${dataDir}\n`);
    return await playOn(stageIn(dataDir));
  } finally {
    await product.stop();
  }
}

async function playOn(stage: Stage): Promise<boolean> {
  const wanted =
    values.fault?.split(',') ??
    (await readFaults(stage)).filter(({ impossible }) => impossible === null).map(({ id }) => id);
  const ordered = values.order === 'random' ? inOrder(wanted, Number(values.seed)) : wanted;
  const size = Number(values['at-once']);
  const limits = {
    endsWithinMs: Number(values.minutes) * 60_000,
    settledMs: 20_000,
    readsForMs: Number(values['reads-for']) * 1_000,
  };
  const all: Played[] = [];
  const play = async (faults: readonly string[]): Promise<readonly Played[]> => {
    const played = await playFaults(stage, faults, limits);
    for (const each of played) process.stdout.write(tellPlayed(each, values.verbose));
    return played;
  };
  const refused: string[] = [];
  for (let at = 0; at < ordered.length; at += size) {
    const played = await play(ordered.slice(at, at + size));
    const [first] = played;
    // What could not be caused beside another fault is played alone.
    const later = size > 1 ? played.filter((each) => each.refused !== null && each !== first) : [];
    refused.push(...later.map(({ fault }) => fault));
    all.push(...played.filter((each) => !later.includes(each)));
  }
  for (const fault of refused) all.push(...(await play([fault])));
  const wrong = all.filter((each) => judge(each).length > 0);
  process.stdout.write(`${all.length} played, ${wrong.length} wrong\n`);
  return wrong.length === 0;
}
