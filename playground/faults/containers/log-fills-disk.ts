import { nothingHeld } from '../fault.ts';
import { until } from '../until.ts';
import { type ContainerFault, containerRule } from './container-fault.ts';
import { type ShopContainers, service, told } from './shop-containers.ts';

const MAILER = 'shop-mailer';
/** How far back a look at the log reaches. */
const LOOK_S = 3;
/** In that time. */
const MANY = 100;
/** Some hundred lines a second, and no more than 40 MB whatever happens. */
const REPEATS = `m=0
  while true; do
    if [ $m -lt 1500 ]; then
      m=$((m + 1)); l=0
      while [ $l -lt 200 ]; do echo "ERROR mail 4711 refused by the relay: try again at once"; l=$((l + 1)); done
    fi
    sleep 0.2
  done`;

export const logFillsDisk: ContainerFault = {
  id: 'log_fills_disk',
  title: 'A log fills the disk',
  description: 'The shop’s mailer tries the same mail again and again, and writes it down each time.',
  rule: containerRule('ContainerLogGrowsFast', MAILER, 'writes its log fast', 'warning'),
  async cause(shop) {
    await shop.make(MAILER, service(MAILER, told('/stuck', REPEATS)));
    await shop.atWork(MAILER);
    await shop.tell(MAILER, '/stuck');
    await until(`${MAILER} to repeat itself`, async () => (await newLines(shop)) > MANY);
    return nothingHeld;
  },
  undo: ({ remove }) => remove(MAILER),
  async read(shop) {
    const lines = await newLines(shop);
    return { holds: lines > MANY, says: `${Math.round(lines / LOOK_S)} lines a second` };
  },
};

async function newLines({ engine, runs }: ShopContainers): Promise<number> {
  if (!(await runs(MAILER))) return 0;
  const since = Math.floor(Date.now() / 1_000) - LOOK_S;
  const log = await engine.api.getContainer(MAILER).logs({ stdout: true, since, follow: false });
  return log.toString().split('\n').length;
}
