/** How one of the seed's fifteen layers stands. */
export interface LayerStatus {
  readonly number: number;
  readonly name: string;
  /** `part`: it holds, and something would make it hold better. */
  readonly state: 'on' | 'part' | 'off';
  /** One line, for people. */
  readonly says: string;
}

type Said = Pick<LayerStatus, 'state' | 'says'>;

export const layerNames = [
  'identity vault',
  'AI gateway',
  'audit log',
  'throttle',
  'tool registry',
  'human switch',
  'path validation',
  'command whitelist',
  'URL allow-list',
  'input sanitisation',
  'restart rate limit',
  'cost breaker',
  'diff validation',
  'container',
  'HTTP',
] as const;
export type LayerName = (typeof layerNames)[number];

export const on = (says: string): Said => ({ state: 'on', says });
export const part = (says: string): Said => ({ state: 'part', says });
export const off = (says: string): Said => ({ state: 'off', says });

/** Asks every layer how it stands; one that cannot say counts as off, and says why. All fifteen, in their order. Never throws. */
export function layerStatus(
  probes: Readonly<Record<LayerName, () => Said | Promise<Said>>>,
  words: (error: unknown) => string,
): Promise<readonly LayerStatus[]> {
  return Promise.all(
    layerNames.map(async (name, index) => {
      try {
        return { number: index + 1, name, ...(await probes[name]()) };
      } catch (error) {
        return { number: index + 1, name, ...off(`it cannot be told: ${words(error)}`) };
      }
    }),
  );
}

const codes: readonly (readonly [RegExp, LayerName])[] = [
  [/^(CREDENTIAL_|IDENTITY_|TOOL_OUT_OF_SCOPE)/, 'identity vault'],
  [/^(SCREEN|SECRET_IN_PLAN|HIDDEN_IN_PLAN|UNSCREENED)/, 'AI gateway'],
  [/^TOO_MANY_CALLS/, 'throttle'],
  [
    /^(UNKNOWN_TOOL|ROLE_MAY_NOT|TOOLSET_|WRONG_DOMAIN|WRONG_TARGET|HOST_NO_SERVICE|UNKNOWN_TARGET|NO_TARGET|TARGET_OUT)/,
    'tool registry',
  ],
  [/^(AUDIT_MODE|AUDIT_ONLY|STOPPED)/, 'human switch'],
  [/^PATH_/, 'path validation'],
  [/^COMMAND_/, 'command whitelist'],
  [/^URL_/, 'URL allow-list'],
  [/^(INPUT_|BAD_INPUT|PATTERN)/, 'input sanitisation'],
  [/^RATE_LIMITED/, 'restart rate limit'],
  [/^(COST_|INCIDENT_BUDGET|DAY_BUDGET|LLM_BUDGET)/, 'cost breaker'],
  [/^(DIFF_|PATCH_)/, 'diff validation'],
];

/** Which layer a refusal's code belongs to; undefined for the others (approvals, states). */
export function layerOf(code: string): LayerName | undefined {
  return codes.find(([pattern]) => pattern.test(code))?.[1];
}
