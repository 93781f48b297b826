type Brand<T, B extends string> = T & { readonly __brand: B };

/** `INC-<n>`, n from one sequence per deployment: short enough to say aloud. */
export type IncidentId = Brand<string, 'IncidentId'>;
/** `tc_` + 12 lower-case base32 characters; unique in the deployment. What evidence cites. */
export type ToolCallId = Brand<string, 'ToolCallId'>;
/** `act_` + 12 lower-case base32 characters. */
export type ActionId = Brand<string, 'ActionId'>;

export const asIncidentId = (text: string): IncidentId => text as IncidentId;
export const asToolCallId = (text: string): ToolCallId => text as ToolCallId;
export const asActionId = (text: string): ActionId => text as ActionId;

const INCIDENT_ID = /^INC-[1-9][0-9]{0,17}$/;

/** The incident that a word of a sentence names, marks after it left out: `INC-7,` is INC-7, and `7` none. */
export function namedIncident(word: string): IncidentId | undefined {
  return /^inc-/i.test(word) ? parseIncidentId(word.replace(/[,;:.!]+$/, '')) : undefined;
}

/** Accepts `INC-7`, `inc-7` and `7`, as people type them; undefined for anything else. */
export function parseIncidentId(text: string): IncidentId | undefined {
  const upper = text.trim().toUpperCase();
  const id = /^[0-9]+$/.test(upper) ? `INC-${upper}` : upper;
  return INCIDENT_ID.test(id) ? asIncidentId(id) : undefined;
}

/** As people write one in a hurry: also `inc7`, `INC 7` and `#7`; undefined for anything else. */
export function readIncidentId(text: string): IncidentId | undefined {
  const [, number] = /^(?:inc(?:ident)?)?[\s#_-]*0*([1-9][0-9]{0,17})$/i.exec(text.trim()) ?? [];
  return number === undefined ? undefined : asIncidentId(`INC-${number}`);
}
