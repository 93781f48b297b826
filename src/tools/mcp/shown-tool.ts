import { z } from 'zod';
import { clip } from '../../core/clip.ts';
import { messageOf } from '../../core/errors.ts';
import { isObject } from '../../core/json-of.ts';
import { storableJson } from '../../core/storable.ts';
import type { Json } from '../../core/tool-call.ts';
import { findInjection } from '../../safety/injection/find-injection.ts';
import { outwardJson, outwardText } from '../../safety/screen/boundary.ts';
import { plainWords } from './plain-words.ts';

/** What a model is shown of a foreign tool. */
export interface ShownTool {
  readonly description: string;
  readonly input: z.ZodType<Json>;
}

/** Characters. Every tool is declared in every call of a model, so long ones are paid for again and again. */
const MAX_DESCRIPTION = 800;
const MAX_HINT = 200;
const MAX_SCHEMA = 8_000;

const WITHHELD = '(Withheld: it reads like instructions.)';

/**
 * A foreign tool in words that its server chose, made harmless: screened for secrets, of bounded length, and without whatever
 * reads like instructions. A string where it can not be offered: why.
 */
export function showTool(server: string, description: string, given: Json): ShownTool | string {
  try {
    return shown(server, description, given);
  } catch (error) {
    return `its input cannot be read: ${plainWords(messageOf(error), 200)}`;
  }
}

function shown(server: string, description: string, given: Json): ShownTool | string {
  const schema = outwardJson(plainSchema(storableJson(given)));
  if (!isObject(schema) || schema['type'] !== 'object') return 'its input is no object';
  const written = JSON.stringify(schema);
  if (written.length > MAX_SCHEMA) return `its input takes over ${MAX_SCHEMA} characters to describe`;
  // Names of fields and their values are needed as they are: nothing of them can be withheld.
  if (suspicious(written)) return 'its input reads like instructions to a model';
  const input = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]) as z.ZodType<Json>;
  // As it is declared to a model: what cannot be is found here, and not in an incident.
  z.toJSONSchema(input, { io: 'input' });
  return { input, description: `From the MCP server ${server}, in its words: ${harmless(description)}` };
}

const suspicious = (text: string): boolean => findInjection(text).length > 0;

const harmless = (text: string, max = MAX_DESCRIPTION): string => {
  const said = outwardText(text.replace(/\s+/g, ' ').trim());
  return suspicious(said) ? WITHHELD : clip(said, max);
};

/** Only said to readers; and expressions, which a hostile server would make run for ever. The server checks its own. */
const LEFT_OUT = new Set(['pattern', 'patternProperties', 'title', 'examples', '$comment', '$schema', '$id']);

/** The same input, with descriptions made harmless. */
function plainSchema(value: Json): Json {
  if (Array.isArray(value)) return value.map((each: Json) => plainSchema(each));
  if (!isObject(value)) return value;
  const entries = Object.entries(value as Record<string, Json>);
  return Object.fromEntries(
    entries.flatMap(([key, each]): (readonly [string, Json])[] => {
      if (key === 'properties' && isObject(each))
        return [
          [
            key,
            Object.fromEntries(Object.entries(each).map(([name, one]) => [name, plainSchema(one as Json)])),
          ],
        ];
      if (LEFT_OUT.has(key)) return [];
      if (key === 'description') return typeof each === 'string' ? [[key, harmless(each, MAX_HINT)]] : [];
      return [[key, plainSchema(each)]];
    }),
  );
}
