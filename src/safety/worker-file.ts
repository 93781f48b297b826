import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * What to start a `Worker` with for the file of this name beside the caller's. Compiled it stands there as it is; from source it
 * needs the loader we ourselves were started with.
 */
export function workerFile(name: string, callerUrl: string): [string | URL, { eval?: boolean }] {
  if (callerUrl.endsWith('.js')) return [new URL(`./${name}.js`, callerUrl), {}];
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = new URL('./dist/esm/api/index.mjs', tsx).href;
  const file = new URL(`./${name}.ts`, callerUrl).href;
  const code = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(file)}); })`;
  return [code, { eval: true }];
}
