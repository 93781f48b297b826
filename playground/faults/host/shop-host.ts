import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpsError } from '../../../src/core/errors.ts';
import { processIdentity, signalProcess } from '../../../src/infra/process/process-identity.ts';
import { readRegular } from '../../../src/infra/process/read-regular.ts';

/** The other system under care: a folder with a small service that reads a configuration and writes a log. */
export interface ShopHost {
  readonly dir: string;
  readonly configFile: string;
  readonly logFile: string;
  /** The command that restarts the service, and the file that holds its pid. */
  readonly restart: readonly string[];
  readonly pidFile: string;
  isRunning(): Promise<boolean>;
  /** Since it was started last. */
  hasWorked(): boolean;
  start(): void;
  kill(): Promise<void>;
  /** Makes the running service repeat itself until it is restarted. */
  makeStuck(): void;
  logBytes(): number;
}

export const GOOD_CONFIGURATION = `# shop-worker: sends the shop's mails
name=shop-worker
workers=4
level=info
`;

/** Plain sh, so that it runs as it is from a checkout and from dist. It keeps its log below 100 MB whatever happens. */
const SERVICE = `dir="$1"
log="$dir/logs/shop-worker.log"
say() { echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $1" >> "$log"; }
say "INFO shop-worker starts"
while true; do
  if ! grep -q '^workers=[0-9][0-9]*$' "$dir/app/worker.conf"; then
    say "FATAL worker.conf: workers is not a number, cannot go on"
    exit 1
  fi
  if [ -f "$dir/state/stuck" ]; then
    line="ERROR mail 4711 refused by the relay: try again at once"
    block=""; n=0
    while [ $n -lt 300 ]; do block="$block$line
"; n=$((n + 1)); done
    while grep -q '^workers=[0-9][0-9]*$' "$dir/app/worker.conf"; do
      printf '%s' "$block" >> "$log"
      [ "$(wc -c < "$log")" -gt 100000000 ] && : > "$log"
      sleep 0.2
    done
    say "FATAL worker.conf: workers is not a number, cannot go on"
    exit 1
  fi
  say "INFO 3 mails sent"
  sleep 2
done
`;
const CONTROL = `#!/bin/sh
# Restarts shop-worker. What a team would have as a unit of systemd, or as a script of their own.
dir="$1"
if [ -f "$dir/state/shop-worker.pid" ]; then kill -9 "$(head -c 12 "$dir/state/shop-worker.pid")" 2>/dev/null; fi
# Before it starts: whoever waits for its first lines must not read those of the one before.
[ -f "$dir/logs/shop-worker.log" ] && mv "$dir/logs/shop-worker.log" "$dir/logs/shop-worker.log.1"
rm -f "$dir/state/stuck"
/bin/sh "$dir/bin/shop-worker.sh" "$dir" < /dev/null > /dev/null 2>&1 &
rm -rf "$dir/state/shop-worker.pid"
echo $! > "$dir/state/shop-worker.pid"
`;

/** What a small file of the service says. Its account may have put anything in its place: that says nothing. */
export async function ownText(path: string): Promise<string> {
  try {
    return (await readRegular(path, 4_096))?.text ?? '';
  } catch (error) {
    if (error instanceof OpsError) return '';
    throw error;
  }
}

/** A new file, whatever has its name: what is there may be a pipe, and writing into one waits for its reader. */
export function putText(path: string, text: string): void {
  rmSync(path, { recursive: true, force: true });
  writeFileSync(path, text, { flag: 'wx' });
}

/** Makes the folder where it is missing, and starts the service unless it runs already. Can be repeated. */
export async function startShopHost(dir: string): Promise<ShopHost> {
  for (const folder of ['app', 'logs', 'state', 'bin']) mkdirSync(join(dir, folder), { recursive: true });
  const configFile = join(dir, 'app', 'worker.conf');
  const logFile = join(dir, 'logs', 'shop-worker.log');
  const pidFile = join(dir, 'state', 'shop-worker.pid');
  const control = join(dir, 'bin', 'restart-shop-worker');
  putText(join(dir, 'bin', 'shop-worker.sh'), SERVICE);
  putText(control, CONTROL);
  chmodSync(control, 0o755);
  if (!existsSync(configFile)) putText(configFile, GOOD_CONFIGURATION);
  const restart = ['/bin/sh', control, dir];
  const running = async () => {
    const pid = Number(await ownText(pidFile));
    return pid > 0 ? processIdentity(pid) : undefined;
  };
  const host: ShopHost = {
    dir,
    configFile,
    logFile,
    restart,
    pidFile,
    isRunning: async () => (await running()) !== undefined,
    hasWorked: () =>
      existsSync(logFile) &&
      statSync(logFile).isFile() &&
      readFileSync(logFile, 'utf8').trim().includes('\n'),
    start() {
      rmSync(join(dir, 'state', 'stuck'), { force: true });
      spawnSync('/bin/sh', [control, dir], { stdio: 'ignore', timeout: 10_000 });
    },
    async kill() {
      const identity = await running();
      if (identity) signalProcess(identity, 'SIGKILL');
    },
    makeStuck: () => putText(join(dir, 'state', 'stuck'), ''),
    logBytes: () => (existsSync(logFile) ? statSync(logFile).size : 0),
  };
  if (!(await host.isRunning())) host.start();
  return host;
}
