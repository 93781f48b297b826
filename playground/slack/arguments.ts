import { SlackError } from './slack-error.ts';
import { asText } from './validate/rules.ts';

/**
 * A call's arguments, from a form (everything a string) or JSON. Readers answer with Slack's
 * `invalid_arguments` when something required is missing or not of its kind.
 */
export class Arguments {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  has(name: string): boolean {
    const value = this.#values[name];
    return value !== undefined && value !== null && value !== '';
  }

  raw(name: string): unknown {
    return this.#values[name];
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'object') throw invalid(name, 'a string');
    return asText(value);
  }

  /** `code` is what Slack says when it is missing, e.g. `channel_not_found`. */
  required(name: string, code?: string): string {
    const value = this.text(name);
    if (value !== undefined && value !== '') return value;
    if (code !== undefined) throw new SlackError(code);
    throw new SlackError('invalid_arguments', [`[ERROR] missing required field: ${name}`]);
  }

  flag(name: string): boolean {
    const value = this.#values[name];
    return value === true || value === 'true' || value === 1 || value === '1';
  }

  number(name: string): number | undefined {
    if (!this.has(name)) return undefined;
    const value = Number(this.#values[name]);
    if (!Number.isFinite(value)) throw invalid(name, 'a number');
    return value;
  }

  /** A comma-separated list, or an array in JSON. */
  list(name: string): string[] {
    const value = this.#values[name];
    if (Array.isArray(value)) return value.map(String);
    return this.has(name)
      ? String(value)
          .split(',')
          .map((each) => each.trim())
      : [];
  }

  /** An object or array, also when it came as JSON text in a form. */
  json(name: string): unknown {
    const value = this.#values[name];
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value) as unknown;
    } catch {
      throw invalid(name, 'JSON');
    }
  }

  without(names: readonly string[]): Arguments {
    return new Arguments(
      Object.fromEntries(Object.entries(this.#values).filter(([name]) => !names.includes(name))),
    );
  }
}

function invalid(name: string, what: string): SlackError {
  return new SlackError('invalid_arguments', [`[ERROR] ${name} must be ${what}`]);
}
