import { z } from 'zod';
import { clip } from '../../core/clip.ts';
import { messageOf } from '../../core/errors.ts';
import { isObject } from '../../core/json-of.ts';
import { plainWords } from '../../core/plain-words.ts';
import { storableJson } from '../../core/storable.ts';
import type { Json } from '../../core/tool-call.ts';
import { findInjection } from '../../safety/injection/find-injection.ts';
import { outwardJson, outwardText } from '../../safety/screen/boundary.ts';

/** What a model is shown of a foreign tool. */
export interface ShownTool {
  readonly description: string;
  readonly input: z.ZodType<Json>;
}

/** Characters. Every tool is declared in every call of a model, so long ones are paid for again and again. */
const MAX_DESCRIPTION = 800;
const MAX_HINT = 200;
const MAX_SCHEMA = 8_000;
/** Of one description, before it is cut to what is shown. */
const MAX_SCREENED = 10_000;

const WITHHELD = '(Withheld: it reads like instructions.)';

/**
 * A foreign tool in words that its server chose, made harmless: screened for secrets, of bounded length, and without whatever
 * reads like instructions. A string where it can not be offered: why.
 */
export function showTool(server: string, description: string, given: Json): ShownTool | string {
  try {
    return shown(server, description, given);
  } catch (error) {
    if (error instanceof TooLong) return tooLong;
    return `its input cannot be read: ${plainWords(messageOf(error), 200)}`;
  }
}

function shown(server: string, description: string, given: Json): ShownTool | string {
  const root = storableJson(given);
  const schema = outwardJson(plainSchema(root, { root, within: ['#'], room: { left: MAX_SCHEMA } }));
  if (!isObject(schema) || schema['type'] !== 'object') return 'its input is no object';
  const written = JSON.stringify(schema);
  if (written.length > MAX_SCHEMA) return tooLong;
  // Names of fields and their values are needed as they are: nothing of them can be withheld.
  if (plainWords(written, MAX_SCHEMA) !== written) return 'its input holds characters that nobody sees';
  if (suspicious(written)) return 'its input reads like instructions to a model';
  const input = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]) as z.ZodType<Json>;
  // As it is declared to a model: what cannot be is found here, and not in an incident.
  z.toJSONSchema(input, { io: 'input' });
  return { input, description: `From the MCP server ${server}, in its words: ${harmless(description)}` };
}

const tooLong = `its input takes over ${MAX_SCHEMA} characters to describe`;

const suspicious = (text: string): boolean => findInjection(text).length > 0;

const harmless = (text: string, max = MAX_DESCRIPTION): string => {
  const said = outwardText(text.slice(0, MAX_SCREENED).replace(/\s+/g, ' ').trim());
  return suspicious(said) ? WITHHELD : clip(plainWords(said, said.length), max);
};

/**
 * Only said to readers; expressions, which a hostile server would make run for ever; and parts, which are written out where
 * they are named. The server checks its own.
 */
const LEFT_OUT = new Set([
  'pattern',
  'patternProperties',
  'title',
  'examples',
  '$comment',
  '$schema',
  '$id',
  '$defs',
  'definitions',
]);

/** Where in a schema we are. */
interface Place {
  readonly root: Json;
  /** The parts that this one is inside of, by their names. */
  readonly within: readonly string[];
  /** About the characters that may still be written: parts of parts of parts would soon be more than any memory holds. */
  readonly room: { left: number };
}

/** The same input written out, with descriptions made harmless. */
function plainSchema(value: Json, place: Place): Json {
  take(place, typeof value === 'string' ? value.length : 1);
  if (Array.isArray(value)) return value.map((each: Json) => plainSchema(each, place));
  if (!isObject(value)) return value;
  const { $ref, ...rest } = value as Record<string, Json>;
  if (typeof $ref === 'string') {
    // It has no end: from here on it is open.
    if (place.within.includes($ref)) return {};
    const part = partOf(place.root, $ref);
    return plainSchema({ ...part, ...rest }, { ...place, within: [...place.within, $ref] });
  }
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>).flatMap(([key, each]): (readonly [string, Json])[] => {
      if (key === 'properties' && isObject(each))
        return [
          [
            key,
            Object.fromEntries(
              Object.entries(each).map(([name, one]) => [name, plainSchema(one as Json, place)]),
            ),
          ],
        ];
      if (LEFT_OUT.has(key)) return [];
      if (key === 'description') return typeof each === 'string' ? [[key, hint(each, place)]] : [];
      return [[key, plainSchema(each, place)]];
    }),
  );
}

function hint(text: string, place: Place): string {
  const said = harmless(text, MAX_HINT);
  take(place, said.length);
  return said;
}

function take({ room }: Place, characters: number): void {
  room.left -= characters;
  if (room.left < 0) throw new TooLong();
}

function partOf(root: Json, ref: string): Readonly<Record<string, Json>> {
  const [, key = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? [];
  const parts = isObject(root) ? root[key] : undefined;
  const part = isObject(parts) && Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (!isObject(part)) throw new Error(`it names ${ref}, which is not there`);
  return part as Record<string, Json>;
}

class TooLong extends Error {}
