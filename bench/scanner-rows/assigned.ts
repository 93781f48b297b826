import { commandPlaces } from './command-places.ts';
import { configPlaces } from './config-places.ts';
import type { Draw } from './draw.ts';
import type { Shape } from './rows.ts';

/** Texts by the kind of value that stands in them. */
export type Places = Readonly<Partial<Record<keyof typeof values, readonly string[]>>>;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const values = {
  rand: (draw: Draw) => draw.run('word', 20 + draw.number(12)),
  hex: (draw: Draw) => draw.run('hex', 32),
  hex26: (draw: Draw) => draw.run('hex', 26),
  uuid: (draw: Draw) => draw.uuid(),
  /** As people choose them where nothing but the words around say so: letters and digits or signs. */
  pw: (draw: Draw) =>
    draw.pick([
      `${draw.run('lower', 6)}${draw.run('digits', 3)}`,
      `${draw.pick(['Spring', 'Tiger', 'Dragon'])}${draw.run('digits', 4)}!`,
      `${draw.run('word', 8)}${draw.run('digits', 2)}`,
      `${draw.run('lower', 4)}_${draw.run('word', 4)}7#${draw.run('digits', 1)}`,
    ]),
  /** With a word that stands in for a password elsewhere. */
  worded: (draw: Draw) =>
    `${draw.pick(['Tr0ub4dor-example-', 'sample', 'my-fake-', 'Dummy'])}${draw.number(9)}${draw.run('word', 4)}${draw.run('digits', 2)}`,
  /** Without a digit, as a name is. */
  word: (draw: Draw) =>
    draw.pick(['swordfish', 'letmein', 'opensesame', 'trustnoone', 'hunterofcats', 'bluemonday']),
  short: (draw: Draw) => `${draw.run('lower', 3)}${draw.run('digits', 1)}${draw.run('lower', 2)}`,
  b64: (draw: Draw) => base64(`ops:${draw.run('word', 12)}`),
  b64s: (draw: Draw) => base64(`a:${draw.run('lower', 1)}`),
  b8: (draw: Draw) => base64(draw.run('lower', 5)),
  b24: (draw: Draw) => draw.run('base64', 24),
  b43: (draw: Draw) => draw.run('base64url', 43),
  b60: (draw: Draw) => draw.run('base64', 60),
} satisfies Record<string, (draw: Draw) => string>;

/** One secret in each of the places. */
export const assignedShapes: readonly Shape[] = Object.values({ ...configPlaces, ...commandPlaces }).flatMap(
  (places) =>
    Object.entries(places).flatMap(([kind, texts]) =>
      texts.map(
        (text): Shape =>
          (draw) => {
            const secret = values[kind as keyof typeof values](draw);
            return { text: text.replaceAll('§', () => secret), secrets: [secret] };
          },
      ),
    ),
);
