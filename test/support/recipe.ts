import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A recipe of docs/recipes as a reader follows it, block by block. */
export interface Recipe {
  readonly title: string;
  readonly steps: readonly RecipeStep[];
}

type RecipeStep =
  /** A block below “**`path`**”. */
  | { readonly kind: 'new_file'; readonly path: string; readonly text: string }
  /** A `diff` block below “**`path`**”: lines to add, between lines that are there. */
  | { readonly kind: 'edit'; readonly path: string; readonly diff: string }
  /** A `sh` block. */
  | { readonly kind: 'run'; readonly script: string };

export function readRecipe(markdown: string): Recipe {
  const title = /^# (.*)/.exec(markdown)?.[1] ?? '';
  return { title, steps: stepsOf(title, markdown) };
}

function stepsOf(title: string, section: string): readonly RecipeStep[] {
  const blocks = section.matchAll(/(?:^\*\*`([^`\n]+)`\*\*[^\n]*\n+)?^(`{3,})(\w+)\n([\s\S]*?)^\2$/gm);
  return [...blocks].map(([, path, , language = '', text = '']) => {
    if (language === 'sh') return { kind: 'run', script: text };
    if (path === undefined)
      throw new Error(
        `“${title}”: the line above this block must name its file, **\`like/this.ts\`**:\n${text}`,
      );
    return language === 'diff' ? { kind: 'edit', path, diff: text } : { kind: 'new_file', path, text };
  });
}

/** Writes and edits the recipe's files in `root`. */
export function writeFilesOf({ steps }: Recipe, root: string): void {
  for (const step of steps) {
    if (step.kind === 'run') continue;
    const file = join(root, step.path);
    if (step.kind === 'edit') writeFileSync(file, edited(readFileSync(file, 'utf8'), step));
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, step.text, { flag: 'wx' });
    }
  }
}

function edited(text: string, { path, diff }: { readonly path: string; readonly diff: string }): string {
  return diff.split(/^@@.*\n/m).reduce((before, hunk) => {
    const lines = (but: string): string =>
      hunk.replace(new RegExp(`^\\${but}.*\\n`, 'gm'), '').replace(/^./gm, '');
    const [head, tail, ...more] = before.split(lines('+'));
    if (head === undefined || tail === undefined || more.length > 0)
      throw new Error(`${path} has these lines not at all or more than once:\n${lines('+')}`);
    return `${head}${lines('-')}${tail}`;
  }, text);
}
