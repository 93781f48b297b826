import { clip } from '../core/clip.ts';
import { OpsError } from '../core/errors.ts';
import { storable, storableJson } from '../core/storable.ts';
import type { Json } from '../core/tool-call.ts';
import type { GateDeps } from './gate-deps.ts';
import { capOutput, screenBounded } from './output-cap.ts';

/** Longest reason, purpose or outcome on record, in characters. */
const MAX_LINE = 4_000;
/** Longest machine-readable result on record, as JSON; beyond it only the text is kept. */
const MAX_RESULT = 2_000_000;
const WITHHELD = '[withheld: it could not be screened for secrets]';

/** Everything that leaves the gate goes through here: secrets hidden, of bounded length, and such that the database takes it. */
export interface Screened {
  /** A tool's output. Throws OpsError SCREEN when it cannot be screened: then there is none. */
  output(raw: { readonly text: string; readonly data: Json }): {
    readonly text: string;
    readonly data: Json;
    readonly truncated: boolean;
  };
  /** A reason, purpose or name; what cannot be screened is withheld. Never throws. */
  line(text: string, max?: number): string;
  /** An input for the record; null when it cannot be screened. Never throws. */
  input(value: Json): Json;
}

export function createScreened({
  redact,
  redactJson,
  log,
}: Pick<GateDeps, 'redact' | 'redactJson' | 'log'>): Screened {
  function unlessItFails<T>(use: () => T, otherwise: T): T {
    try {
      return use();
    } catch {
      // Not its message: it may quote what was to be hidden.
      log.error({}, 'a text could not be screened for secrets and was withheld');
      return otherwise;
    }
  }

  return {
    output({ text, data }) {
      if (typeof text !== 'string')
        throw new OpsError('TOOL_OUTPUT', 'The tool gave no text.', {
          hint: 'This is a mistake in the tool.',
        });
      try {
        // Made storable before it is screened: a NUL in the middle would hide a secret that is whole again without it.
        const screened = screenBounded(text, (part) => redact(storable(part)));
        const capped = capOutput(storable(screened.text), screened.left);
        const result = storableJson(redactJson(storableJson(data ?? null)));
        const tooLarge = JSON.stringify(result).length > MAX_RESULT;
        return { text: capped.text, data: tooLarge ? null : result, truncated: capped.truncated || tooLarge };
      } catch {
        throw new OpsError(
          'SCREEN',
          'What the tool answered could not be screened for secrets, so it was withheld.',
          {
            hint: 'Ask for less of it, or look by hand.',
          },
        );
      }
    },
    line: (text, max = MAX_LINE) =>
      unlessItFails(() => {
        // Screened before it is cut: half a secret is not recognised any more.
        return clip(storable(screenBounded(String(text), (part) => redact(storable(part))).text), max);
      }, WITHHELD),
    input: (value) => unlessItFails(() => storableJson(redactJson(storableJson(value))), null),
  };
}
