import type { Category } from '../../src/safety/secrets/rule.ts';
import { cleanTexts } from './clean.ts';
import { createDraw, type Draw } from './draw.ts';
import { logShapes } from './logs.ts';
import { secretShapes } from './secrets.ts';

/** A text with what must not be left in it; in the form of the data that the scanner is tuned on. */
export interface PositiveRow {
  readonly id: string;
  readonly category: Category;
  readonly generated: true;
  readonly text: string;
  /** Every one of them must be inside a finding. */
  readonly secrets: readonly string[];
}

export interface NegativeRow {
  readonly id: string;
  readonly kind: string;
  readonly generated: true;
  readonly text: string;
}

/** What a shape makes of a drawn value. */
export interface Made {
  readonly text: string;
  readonly secrets: readonly string[];
}
export type Shape = (draw: Draw) => Made;

/** Categories of which public test data has fewer than this many get so many generated rows. */
export const ROWS_PER_CATEGORY = 30;

/**
 * Made-up rows of every category of secrets and of log volumes (injection has data of its own), from the documented formats; each
 * shape of a category is used before one is used again.
 */
export function generatedPositives(seed = 1, each = ROWS_PER_CATEGORY): PositiveRow[] {
  const draw = createDraw(seed);
  const shapes: Partial<Record<Category, readonly Shape[]>> = { ...secretShapes, raw_log: logShapes };
  return Object.entries(shapes).flatMap(([category, some]) =>
    Array.from({ length: Math.max(each, some.length) }, (_, n): PositiveRow => {
      const made = (some[n % some.length] as Shape)(draw);
      return { id: `gen-${category}-${n}`, category: category as Category, generated: true, ...made };
    }),
  );
}

/** Texts full of what looks like secrets to a careless eye. */
export function generatedNegatives(seed = 1, each = 8): NegativeRow[] {
  const draw = createDraw(seed);
  return Object.entries(cleanTexts).flatMap(([kind, make]) =>
    Array.from(
      { length: each },
      (_, n): NegativeRow => ({ id: `gen-clean-${kind}-${n}`, kind, generated: true, text: make(draw) }),
    ),
  );
}
