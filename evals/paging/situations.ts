/**
 * Situations of an on-call team's day, each of one alert. Labelled by what a person would say of them, and not by what Sentry does: `needed`
 * is the minute from which somebody has to be called, null where nobody has to be: it is routine.
 */
export interface Situation {
  readonly id: string;
  readonly kind: string;
  readonly needed: number | null;
  readonly steps: readonly Step[];
}

/** What happens at a minute of the situation. */
export interface Step {
  readonly at: number;
  readonly does: Deed;
}

export type Deed =
  | { readonly kind: 'fires' | 'ends'; readonly alert: Fired }
  /** The same alert as a message of Alertmanager's Slack receiver. */
  | { readonly kind: 'message'; readonly alert: Fired; readonly status: 'firing' | 'resolved' }
  | { readonly kind: 'mutes'; readonly matcher: string; readonly minutes: number }
  | { readonly kind: 'unmutes' | 'approves' | 'takes' | 'gives back' | 'writes' };

export interface Fired {
  readonly labels: Readonly<Record<string, string>>;
  /** By which the sender groups; left out: each alert by itself. */
  readonly group?: string;
}

/** What Sentry finds when it looks: a cause with a fix that helps or does not, no cause, or nothing wrong. */
export type Found = 'helps' | 'useless' | 'none' | 'healthy';

type Make = (name: string, pick: (list: readonly number[]) => number) => Omit<Situation, 'id' | 'kind'>;

const alertOf = (name: string, labels: Readonly<Record<string, string>> = {}, group?: string): Fired => ({
  labels: {
    alertname: name,
    severity: 'warning',
    instance: `${name.toLowerCase()}:9100`,
    found: 'none',
    ...labels,
  },
  ...(group === undefined ? {} : { group }),
});
const at = (minute: number, does: Deed): Step => ({ at: minute, does });
const fires = (minute: number, alert: Fired): Step => at(minute, { kind: 'fires', alert });
const ends = (minute: number, alert: Fired): Step => at(minute, { kind: 'ends', alert });
const person = (minute: number, kind: 'approves' | 'takes' | 'gives back' | 'writes' | 'unmutes'): Step =>
  at(minute, { kind });
const mutes = (minute: number, matcher: string, minutes: number): Step =>
  at(minute, { kind: 'mutes', matcher, minutes });

const ROUTINE: Readonly<Record<string, Make>> = {
  'recovers by itself within minutes': (name, pick) => {
    const alert = alertOf(name, { severity: pick([0, 1]) === 0 ? 'warning' : 'critical' });
    return { needed: null, steps: [fires(0, alert), ends(pick([1, 2, 3, 4]), alert)] };
  },
  'nothing is wrong when looked at, and it ends': (name, pick) => {
    const alert = alertOf(name, { found: 'healthy' });
    return { needed: null, steps: [fires(0, alert), ends(pick([2, 3, 4]), alert)] };
  },
  'comes and goes': (name, pick) => {
    const alert = alertOf(name);
    const times = pick([5, 6, 8]);
    return {
      needed: null,
      steps: Array.from({ length: times }, (_, n) => [fires(3 * n, alert), ends(3 * n + 2, alert)]).flat(),
    };
  },
  'known and muted': (name, pick) => {
    const alert = alertOf(name);
    return { needed: null, steps: [mutes(0, name, 60), fires(1, alert), ends(pick([10, 30, 50]), alert)] };
  },
  'muted, and over when the mute is ended': (name, pick) => {
    const alert = alertOf(name);
    const over = pick([5, 8]);
    return {
      needed: null,
      steps: [mutes(0, name, 60), fires(1, alert), ends(over, alert), person(over + 3, 'unmutes')],
    };
  },
  // The maintenance window fits job="upgrade".
  'in a maintenance window': (name, pick) => {
    const alert = alertOf(name, { job: 'upgrade' });
    return { needed: null, steps: [fires(0, alert), ends(pick([10, 20, 40]), alert)] };
  },
  informs: (name) => ({ needed: null, steps: [fires(0, alertOf(name, { severity: 'info' }))] }),
  'the policy asks for no more': (name) => ({
    needed: null,
    steps: [fires(0, alertOf(name, { job: 'batch' }))],
  }),
  'is told again and again, and ends': (name, pick) => {
    const alert = alertOf(name);
    const last = pick([3, 4]);
    return { needed: null, steps: [...[0, 1, 2].map((minute) => fires(minute, alert)), ends(last, alert)] };
  },
  'fires again soon, and ends again': (name, pick) => {
    const alert = alertOf(name);
    const again = pick([8, 15, 25]);
    return {
      needed: null,
      steps: [fires(0, alert), ends(2, alert), fires(again, alert), ends(again + 3, alert)],
    };
  },
  'two senders tell of it, one of its end': (name, pick) => {
    const alert = alertOf(name);
    const message = (minute: number): Step => at(minute, { kind: 'message', alert, status: 'firing' });
    return {
      needed: null,
      steps:
        pick([0, 1]) === 0
          ? [fires(0, alert), message(0), ends(3, alert)]
          : [message(0), fires(1, alert), ends(4, alert)],
    };
  },
  'a person approves, and the fix helps': (name, pick) => {
    const alert = alertOf(name, { found: 'helps', severity: 'critical' });
    const approved = pick([1, 2, 3]);
    return {
      needed: null,
      steps: [fires(0, alert), person(approved, 'approves'), ends(approved + 2, alert)],
    };
  },
  'a person has it, and solves it later': (name, pick) => {
    const alert = alertOf(name, { severity: 'critical' });
    return { needed: null, steps: [fires(0, alert), person(2, 'takes'), ends(pick([20, 35]), alert)] };
  },
};

const NEEDED: Readonly<Record<string, Make>> = {
  'stays, and no cause is found': (name, pick) => ({
    needed: 0,
    steps: [fires(0, alertOf(name, { severity: pick([0, 1]) === 0 ? 'warning' : 'critical' }))],
  }),
  'a fix waits, and nobody is there': (name) => ({
    needed: 0,
    steps: [fires(0, alertOf(name, { found: 'helps', severity: 'critical' }))],
  }),
  'the approved fix does not help': (name, pick) => {
    const approved = pick([1, 3]);
    return {
      needed: approved,
      steps: [
        fires(0, alertOf(name, { found: 'useless', severity: 'critical' })),
        person(approved, 'approves'),
      ],
    };
  },
  'an approval runs out after somebody wrote and left': (name) => ({
    needed: 2,
    steps: [fires(0, alertOf(name, { found: 'helps', severity: 'critical' })), person(2, 'writes')],
  }),
  'somebody takes it and gives it back': (name, pick) => {
    const back = pick([10, 20]);
    return { needed: back, steps: [fires(0, alertOf(name)), person(1, 'takes'), person(back, 'gives back')] };
  },
  'a critical joins what rests': (name, pick) => {
    const joins = pick([5, 20]);
    return {
      needed: joins,
      steps: [
        fires(0, alertOf(name, { job: 'batch', device: 'a' }, name)),
        fires(joins, alertOf(name, { severity: 'critical', device: 'b' }, name)),
      ],
    };
  },
  'a critical under a mute that does not name severity': (name) => ({
    needed: 1,
    steps: [mutes(0, name, 60), fires(1, alertOf(name, { severity: 'critical' }))],
  }),
  'a critical joins what is muted': (name, pick) => {
    const joins = pick([5, 15]);
    return {
      needed: joins,
      steps: [
        mutes(0, name, 60),
        fires(1, alertOf(name, { device: 'a' }, name)),
        fires(joins, alertOf(name, { severity: 'critical', device: 'b' }, name)),
      ],
    };
  },
  'still fires when its mute ends': (name, pick) => {
    const minutes = pick([10, 20]);
    return { needed: minutes, steps: [mutes(0, name, minutes), fires(1, alertOf(name))] };
  },
  'fires again after its mute has ended': (name, pick) => {
    const alert = alertOf(name);
    const again = pick([15, 25]);
    return {
      needed: again,
      steps: [mutes(0, name, 10), fires(1, alert), ends(5, alert), fires(again, alert)],
    };
  },
  'comes and goes, and then stays': (name) => {
    const alert = alertOf(name);
    const flips = Array.from({ length: 6 }, (_, n) => [fires(3 * n, alert), ends(3 * n + 2, alert)]).flat();
    return { needed: 20, steps: [...flips, fires(20, alert)] };
  },
  'was somebody’s, ended, fires again and stays': (name, pick) => {
    const alert = alertOf(name);
    const again = pick([10, 20]);
    return {
      needed: again,
      steps: [fires(0, alert), person(1, 'takes'), ends(3, alert), fires(again, alert)],
    };
  },
  'one of its group ends, the other does not': (name) => {
    const [one, other] = ['a', 'b'].map((device) => alertOf(name, { device }, name)) as [Fired, Fired];
    return { needed: 0, steps: [fires(0, one), fires(0, other), ends(2, one)] };
  },
  'an end that was told for something else': (name) => ({
    needed: 0,
    steps: [fires(0, alertOf(name)), ends(2, alertOf(name, { instance: 'elsewhere:9100' }))],
  }),
};

/** So many, in turn of every kind, seven of ten routine; the same for the same seed. */
export function situations(count: number, seed = 1): readonly Situation[] {
  const pick = random(seed);
  const kinds = { routine: Object.entries(ROUTINE), needed: Object.entries(NEEDED) };
  const seen = { routine: 0, needed: 0 };
  return Array.from({ length: count }, (_, n) => {
    const label = n % 10 < 7 ? 'routine' : 'needed';
    const [kind, make] = kinds[label][seen[label]++ % kinds[label].length] as [string, Make];
    const id = `Alert${n + 1}`;
    return { id, kind, ...make(id, pick) };
  });
}

/** Mulberry32. */
function random(seed: number): (list: readonly number[]) => number {
  let state = seed;
  return (list) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return list[((t ^ (t >>> 14)) >>> 0) % list.length] ?? 0;
  };
}
