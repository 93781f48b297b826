import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const document = z.object({ id: z.string(), title: z.string(), domain: z.string(), text: z.string() });
const query = z.object({
  qid: z.string(),
  variant: z.string(),
  text: z.string(),
  relevant: z.array(z.string()).min(1),
});
export type BenchDocument = z.infer<typeof document>;
export type BenchQuery = z.infer<typeof query>;

/** JSON lines `{id,title,domain,text}`; other fields are not looked at. */
export const readCorpus = (file: string) => readLines(file, document);
/** JSON lines `{qid,variant,text,relevant[]}`. */
export const readQueries = (file: string) => readLines(file, query);

async function readLines<T>(file: string, schema: z.ZodType<T>): Promise<readonly T[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.flatMap((line, i) => {
    if (line.trim() === '') return [];
    const parsed = schema.safeParse(jsonOf(line));
    if (!parsed.success) throw new Error(`${file}, line ${i + 1}: ${z.prettifyError(parsed.error)}`);
    return [parsed.data];
  });
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
