/**
 * Small rules that Block Kit's validation is built from. A rule adds what is wrong to `problems`, in Slack's words
 * and with Slack's JSON pointers, and goes on: a sender learns everything at once.
 */
export interface Problem {
  readonly message: string;
  readonly at: string;
}

export type Rule = (value: unknown, at: string, problems: Problem[]) => void;

/** Slack's spelling of a problem in `response_metadata.messages`. */
export function spell(problem: Problem): string {
  return `[ERROR] ${problem.message} [json-pointer:${problem.at}]`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text or a number as text; anything else is as good as nothing. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

export function string(max: number, min = 1): Rule {
  return (value, at, problems) => {
    if (typeof value !== 'string') problems.push({ message: 'must be a string', at });
    else if (value.length < min) problems.push({ message: `must be more than ${min - 1} characters`, at });
    else if (value.length > max) problems.push({ message: `must be less than ${max + 1} characters`, at });
  };
}

export function url(max: number): Rule {
  const length = string(max);
  return (value, at, problems) => {
    length(value, at, problems);
    if (typeof value === 'string' && !/^(https?|slack|mailto):/i.test(value)) {
      problems.push({ message: 'Must be a valid URL', at });
    }
  };
}

export function number(min: number, max: number): Rule {
  return (value, at, problems) => {
    if (typeof value !== 'number' || !Number.isFinite(value))
      problems.push({ message: 'must be a number', at });
    else if (value < min || value > max) problems.push({ message: `must be between ${min} and ${max}`, at });
  };
}

export const boolean: Rule = (value, at, problems) => {
  if (typeof value !== 'boolean') problems.push({ message: 'must be a boolean', at });
};

export const anything: Rule = () => undefined;

export function pattern(expression: RegExp, what: string): Rule {
  return (value, at, problems) => {
    if (typeof value !== 'string' || !expression.test(value))
      problems.push({ message: `must be ${what}`, at });
  };
}

export function among(...allowed: readonly string[]): Rule {
  return (value, at, problems) => {
    if (typeof value !== 'string' || !allowed.includes(value)) {
      problems.push({ message: `must be one of: ${allowed.join(', ')}`, at });
    }
  };
}

export function list(item: Rule, max: number, min = 1): Rule {
  return (value, at, problems) => {
    if (!Array.isArray(value)) {
      problems.push({ message: 'must be an array', at });
      return;
    }
    if (value.length < min) problems.push({ message: `no fewer than ${min} items allowed`, at });
    if (value.length > max) problems.push({ message: `no more than ${max} items allowed`, at });
    value.forEach((each, index) => {
      item(each, `${at}/${index}`, problems);
    });
  };
}

/** An object with exactly these fields; anything else in it is a problem, as in Slack. */
export function fields(required: Record<string, Rule>, optional: Record<string, Rule> = {}): Rule {
  return (value, at, problems) => {
    if (!isRecord(value)) {
      problems.push({ message: 'must be an object', at });
      return;
    }
    for (const [name, rule] of Object.entries(required)) {
      if (value[name] === undefined) problems.push({ message: `missing required field: ${name}`, at });
      else rule(value[name], `${at}/${name}`, problems);
    }
    for (const [name, each] of Object.entries(value)) {
      if (each === undefined || name in required) continue;
      const rule = optional[name];
      if (rule === undefined) problems.push({ message: `invalid additional property: ${name}`, at });
      else rule(each, `${at}/${name}`, problems);
    }
  };
}

/** Chooses the rule by the object's `type`. The table is looked up late, so that tables may refer to each other. */
export function byType(table: () => Readonly<Record<string, Rule>>): Rule {
  return (value, at, problems) => {
    if (!isRecord(value) || typeof value['type'] !== 'string') {
      problems.push({ message: 'missing required field: type', at });
      return;
    }
    const known = table();
    const rule = Object.hasOwn(known, value['type']) ? known[value['type']] : undefined;
    if (rule === undefined)
      problems.push({ message: `unsupported type: ${value['type']}`, at: `${at}/type` });
    else rule(value, at, problems);
  };
}

/** Both rules hold. */
export function both(first: Rule, second: Rule): Rule {
  return (value, at, problems) => {
    first(value, at, problems);
    second(value, at, problems);
  };
}

/** At least (or exactly) one of the named fields is there. */
export function needsOneOf(names: readonly string[], exactly = false): Rule {
  return (value, at, problems) => {
    if (!isRecord(value)) return;
    const there = names.filter((name) => value[name] !== undefined).length;
    if (there === 0) problems.push({ message: `missing required field: ${names.join(' or ')}`, at });
    else if (exactly && there > 1)
      problems.push({ message: `only one of ${names.join(', ')} is allowed`, at });
  };
}
