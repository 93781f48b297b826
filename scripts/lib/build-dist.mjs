import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { PrepareError } from './prepare-error.mjs';

/** What is compiled, or copied beside the compiled code when it is no TypeScript (prompts, the playground's page). */
const sourceFolders = ['src', 'playground', 'bench', 'evals'];
/** Copied whole: the same relative path works from the sources and from dist. */
const assetFolders = ['prisma'];
const configFiles = [
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
  'scripts/lib/build-dist.mjs',
];

/** Whether dist/ was made of exactly the present sources, without complaints of the compiler unless those are fine. */
export function isBuilt(root, { evenWithErrors }) {
  const stamp = join(root, 'dist', '.sources');
  if (!existsSync(stamp)) return false;
  const [hash, errors] = readFileSync(stamp, 'utf8').split(' ');
  return (errors === undefined || evenWithErrors) && hash === sourcesHash(root);
}

/** By content: a checkout or a copy changes times, and some 500 small files are read in 30 ms. */
function sourcesHash(root) {
  const hash = createHash('sha256');
  const files = [...configFiles.map((file) => join(root, file)), ...inputs(root)];
  for (const file of files)
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}

function inputs(root) {
  return [...sourceFolders, ...assetFolders].flatMap((folder) => walk(join(root, folder)));
}

function walk(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.name.startsWith('.')) return [];
      return entry.isDirectory() ? walk(path) : entry.isFile() ? [path] : [];
    });
}

/**
 * Compiles beside dist/ and then replaces what differs file by file: dist/ is never missing or half written under
 * another process that runs from it.
 */
export async function build(root, { evenWithErrors }) {
  const started = Date.now();
  process.stderr.write('Compiling …\n');
  const hash = sourcesHash(root);
  const draft = join(root, '.sentry-bootstrap', 'dist');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const clean = compile(root, draft, evenWithErrors);
  copyAssets(root, draft);
  if (clean) await bundle(draft);
  const dist = join(root, 'dist');
  replaceChanged(draft, dist);
  rmSync(draft, { recursive: true, force: true });
  writeFileSync(join(dist, '.sources'), clean ? hash : `${hash} errors`);
  process.stderr.write(`Compiled in ${((Date.now() - started) / 1000).toFixed(1)} s.\n`);
}

function compile(root, outDir, evenWithErrors) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', 'tsconfig.build.json', '--outDir', outDir, '--incremental', 'false'];
  const run = spawnSync(process.execPath, [...args, '--tsBuildInfoFile', 'null'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (run.status === 0 || evenWithErrors) return run.status === 0;
  throw new PrepareError('The sources do not compile; the compiler says why above.');
}

/**
 * The client library of Kubernetes is 800 files, of which one class is used: loading them all would cost each start that has a
 * cluster 0.7 s of a processor. What needs Node's own modules by `require` gets one.
 */
async function bundle(outDir) {
  const file = join(outDir, 'src', 'targets', 'kubernetes', 'connect', 'kube-config.js');
  if (!existsSync(file)) return;
  // Only now: a fresh checkout has loaded this file before it installed anything.
  const { build: esbuild } = await import('esbuild');
  await esbuild({
    entryPoints: [file],
    outfile: file,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'inline',
    keepNames: true,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
}

function copyAssets(root, outDir) {
  for (const file of inputs(root)) {
    const path = relative(root, file);
    // The page is plain JavaScript for the browser and is not compiled.
    if (extname(file) === '.ts' && !path.startsWith(join('playground', 'slack', 'page'))) continue;
    const target = join(outDir, path);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
}

function replaceChanged(draft, dist) {
  const kept = new Set();
  for (const file of walk(draft)) {
    const path = relative(draft, file);
    kept.add(path);
    const target = join(dist, path);
    if (existsSync(target) && readFileSync(target).equals(readFileSync(file))) continue;
    mkdirSync(dirname(target), { recursive: true });
    renameSync(file, target);
  }
  for (const file of walk(dist)) {
    if (!kept.has(relative(dist, file))) rmSync(file);
  }
}
