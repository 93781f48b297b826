import { type CommandDecision, type RefusedCommand, refuseCommand } from './decision.ts';
import type { Flag, Grammar } from './grammar.ts';
import { grammars } from './grammars.ts';
import type { CommandPolicy } from './policy.ts';
import { tokenize, type Word } from './tokenize.ts';

/**
 * Whether a diagnostic command may be run, and as which argv. Pure: no file, no host is asked. What is not in the
 * binary's grammar is refused, with the rule that refused it and what would be allowed.
 *
 * @example parseCommand('tail -30 /var/log/syslog', defaultCommandPolicy).argv // ['tail', '-n', '30', '/var/log/syslog']
 */
export function parseCommand(text: string, policy: CommandPolicy): CommandDecision {
  const words = tokenize(text);
  if ('allowed' in words) return words;
  const [first, ...rest] = words;
  const grammar = grammars.find(({ binary }) => binary === first?.text && !first.quoted);
  if (!grammar)
    return refuseCommand(
      'unknown-command',
      `"${first?.text ?? ''}" is not a diagnostic command.`,
      `One of: ${grammars.map(({ binary }) => binary).join(', ')}; by name, without a path.`,
    );
  const version = rest.length === 1 ? rest[0]?.text : undefined;
  if (version === '--version' || version === '-V')
    return { allowed: true, binary: grammar.binary, argv: [grammar.binary, version], files: [] };
  return new ArgumentReader(grammar, policy).read(grammar.rewrite?.(rest) ?? rest);
}

/** Reads the words of one command against one grammar. */
class ArgumentReader {
  private readonly grammar: Grammar;
  private readonly policy: CommandPolicy;
  private readonly options: string[] = [];
  private readonly operands: string[] = [];
  private readonly counts = new Map<string, number>();

  constructor(grammar: Grammar, policy: CommandPolicy) {
    this.grammar = grammar;
    this.policy = policy;
  }

  read(words: readonly Word[]): CommandDecision {
    const queue = [...words];
    while (queue.length > 0) {
      const word = queue.shift();
      if (!word) break;
      const refusal = word.text.startsWith('-')
        ? this.readFlag(word.text, queue)
        : this.readOperand(word.text);
      if (refusal) return refusal;
    }
    return this.refuseWhole() ?? this.allow();
  }

  private readFlag(text: string, queue: Word[]): RefusedCommand | undefined {
    if (text.startsWith('--')) {
      const at = text.indexOf('=');
      const name = at === -1 ? text : text.slice(0, at);
      return this.take(name, at === -1 ? undefined : text.slice(at + 1), queue);
    }
    return this.readCluster(text, queue);
  }

  /** `-tlnp`, `-n30`, `-eo pid`: every letter is a flag; the first that takes a value takes what follows it. */
  private readCluster(text: string, queue: Word[]): RefusedCommand | undefined {
    for (let at = 1; at < text.length; at += 1) {
      const name = `-${text[at] ?? ''}`;
      const rest = text.slice(at + 1);
      if (this.find(name)?.value) return this.take(name, rest === '' ? undefined : rest, queue);
      const refusal = this.take(name, undefined, queue);
      if (refusal) return refusal;
    }
    return text === '-'
      ? this.refuse('unknown-flag', 'A lone "-" means standard input; there is none.')
      : undefined;
  }

  private take(name: string, attached: string | undefined, queue: Word[]): RefusedCommand | undefined {
    const flag = this.find(name);
    if (!flag) return this.refuse('unknown-flag', `${name} is not allowed.`);
    const key = flag.names[0] ?? name;
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    if (count > (flag.times ?? 1)) return this.refuse('repeated-flag', `${name} is given too often.`);
    if (!flag.value) {
      if (attached !== undefined) return this.refuse('unexpected-value', `${name} takes no value.`);
      this.options.push(...(flag.emit?.(undefined) ?? [key]));
      return undefined;
    }
    const given = attached ?? (flag.optionalValue ? undefined : queue.shift()?.text);
    if (given === undefined && flag.optionalValue) {
      this.options.push(name);
      return undefined;
    }
    const value = given === undefined ? undefined : flag.value(given, this.policy);
    if (value === undefined)
      return this.refuse(
        'bad-value',
        `${name} does not take ${given === undefined ? 'nothing' : `"${given}"`}.`,
      );
    this.options.push(...(flag.emit?.(value) ?? (flag.optionalValue ? [`${name}=${value}`] : [key, value])));
    return undefined;
  }

  private readOperand(text: string): RefusedCommand | undefined {
    const value = this.grammar.operands.type(text, this.policy);
    if (value === undefined)
      return this.refuse('bad-operand', `"${text}" is not ${this.grammar.operands.are}.`);
    this.operands.push(value);
    return undefined;
  }

  private refuseWhole(): RefusedCommand | undefined {
    const { min, max, are } = this.grammar.operands;
    if (this.operands.length < min) return this.refuse('missing-operand', `It needs ${are}.`);
    if (this.operands.length > max) return this.refuse('too-many-operands', `At most ${max}: ${are}.`);
    const clash = this.grammar.conflicts?.find((pair) => pair.every((name) => this.counts.has(name)));
    if (clash) return this.refuse('conflict', `${clash.join(' and ')} do not go together.`);
    const reason = this.grammar.whole?.(this.operands, new Set(this.counts.keys()));
    return reason === undefined ? undefined : this.refuse('not-allowed', reason);
  }

  private allow(): CommandDecision {
    const enforced = (this.grammar.enforced ?? []).flatMap(({ unless, words }) =>
      unless !== undefined && this.counts.has(unless) ? [] : words,
    );
    const head = [this.grammar.binary, ...enforced, ...this.options];
    return {
      allowed: true,
      binary: this.grammar.binary,
      argv: [...head, ...this.operands],
      files: this.grammar.files ? this.operands.map((_, index) => head.length + index) : [],
    };
  }

  private find(name: string): Flag | undefined {
    return this.grammar.flags.find(({ names }) => names.includes(name));
  }

  private refuse(rule: string, reason: string): RefusedCommand {
    return refuseCommand(rule, `${this.grammar.binary}: ${reason}`, this.grammar.usage);
  }
}
