import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { lockData } from './data-lock.ts';

/** One change: collection, key, value; `null` deletes. */
type Entry = readonly [collection: string, key: string, value: unknown];

/** Rewritten as one line per live value when this many lines are dead. */
const COMPACT_AFTER_DEAD = 20_000;
const FSYNC_EVERY_MS = 200;

/**
 * Named maps that survive kill -9: each change is appended to a JSON-lines file before the call returns (the
 * kernel keeps what was written when the process dies), and fsynced within 200 ms for the sake of power cuts.
 * A torn last line, from a kill in the middle of a write, is dropped on open. Without `dir` it lives in memory.
 */
export class Journal {
  readonly #collections = new Map<string, Map<string, unknown>>();
  readonly #path: string | undefined;
  #file: number | undefined;
  #unlock: () => void = () => undefined;
  #lines = 0;
  #syncTimer: NodeJS.Timeout | undefined;

  constructor(dir?: string) {
    if (dir === undefined) return;
    this.#unlock = lockData(dir);
    this.#path = join(dir, 'slack.jsonl');
    if (existsSync(this.#path)) this.#load(readFileSync(this.#path, 'utf8'));
    this.#compact();
  }

  get<T>(collection: string, key: string): T | undefined {
    return this.#collections.get(collection)?.get(key) as T | undefined;
  }

  values<T>(collection: string): T[] {
    return [...(this.#collections.get(collection)?.values() ?? [])] as T[];
  }

  entries<T>(collection: string): Array<[string, T]> {
    return [...(this.#collections.get(collection)?.entries() ?? [])] as Array<[string, T]>;
  }

  put(collection: string, key: string, value: unknown): void {
    this.#apply([collection, key, value]);
    this.#append([collection, key, value]);
  }

  delete(collection: string, key: string): void {
    this.#apply([collection, key, null]);
    this.#append([collection, key, null]);
  }

  close(): void {
    clearTimeout(this.#syncTimer);
    if (this.#file === undefined) return;
    fsyncSync(this.#file);
    closeSync(this.#file);
    this.#file = undefined;
    this.#unlock();
  }

  #load(text: string): void {
    const lines = text.split('\n');
    // What follows the last newline is empty, or a torn write.
    lines.pop();
    for (const line of lines) this.#apply(JSON.parse(line) as Entry);
  }

  #apply([collection, key, value]: Entry): void {
    let map = this.#collections.get(collection);
    if (map === undefined) {
      map = new Map();
      this.#collections.set(collection, map);
    }
    if (value === null) map.delete(key);
    else map.set(key, value);
  }

  #append(entry: Entry): void {
    if (this.#file === undefined) return;
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
    this.#lines += 1;
    if (this.#lines - this.#size() > COMPACT_AFTER_DEAD) this.#compact();
    else this.#syncSoon();
  }

  #size(): number {
    let size = 0;
    for (const map of this.#collections.values()) size += map.size;
    return size;
  }

  /** Writes the live values beside the file and renames: a kill at any instant leaves one whole file. */
  #compact(): void {
    if (this.#path === undefined) return;
    const fresh = `${this.#path}.new`;
    const file = openSync(fresh, 'w', 0o600);
    let lines = 0;
    for (const [collection, map] of this.#collections) {
      for (const [key, value] of map) {
        writeSync(file, `${JSON.stringify([collection, key, value])}\n`);
        lines += 1;
      }
    }
    fsyncSync(file);
    renameSync(fresh, this.#path);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = file;
    this.#lines = lines;
  }

  #syncSoon(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = undefined;
      if (this.#file !== undefined) fsyncSync(this.#file);
    }, FSYNC_EVERY_MS);
    this.#syncTimer.unref();
  }
}
