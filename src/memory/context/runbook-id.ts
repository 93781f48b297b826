/** A document that is a runbook has its id in its front matter, as the files have; another goes by its path. */
export function runbookIdOf({ path, content }: { readonly path: string; readonly content: string }): string {
  const front = /^\s*---\r?\n([\s\S]{0,2000}?)\r?\n---/.exec(content)?.[1];
  return /^id:[ \t]*["']?([a-z0-9][a-z0-9-]*)/m.exec(front ?? '')?.[1] ?? path;
}
