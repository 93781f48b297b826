import type { ModelAccess } from '../llm/create-backend.ts';

/** The variables that say how a model is reached, as the environment's schema reads them. */
interface ModelVariables {
  readonly SENTRY_MODEL_BACKEND: 'anthropic' | 'bedrock' | 'access-gateway';
  readonly ANTHROPIC_API_KEY?: string | undefined;
  readonly ANTHROPIC_BASE_URL?: string | undefined;
  readonly AWS_REGION?: string | undefined;
  readonly AWS_BEARER_TOKEN_BEDROCK?: string | undefined;
}

/** Null: no model. `problem`: a backend was chosen and what it needs is missing. */
export function readModelAccess(
  values: ModelVariables,
): { readonly access: ModelAccess | null } | { readonly problem: string } {
  const { ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseUrl } = values;
  switch (values.SENTRY_MODEL_BACKEND) {
    case 'anthropic':
      // A gateway of one's own may want no key, but the SDK sends one.
      return {
        access:
          apiKey || baseUrl
            ? { kind: 'anthropic', apiKey: apiKey ?? 'none', baseUrl: baseUrl ?? null }
            : null,
      };
    case 'access-gateway':
      return baseUrl
        ? { access: { kind: 'access-gateway', apiKey: apiKey ?? 'none', baseUrl } }
        : {
            problem:
              'ANTHROPIC_BASE_URL: the access gateway needs its URL, up to /api/v1 (http://gateway.internal/api/v1)',
          };
    case 'bedrock':
      return readBedrock(values);
  }
}

function readBedrock(values: ModelVariables): ReturnType<typeof readModelAccess> {
  const region = values.AWS_REGION;
  if (!region) return { problem: 'AWS_REGION: Bedrock needs a region, such as eu-central-1' };
  return {
    access: {
      kind: 'bedrock',
      region,
      apiKey: values.AWS_BEARER_TOKEN_BEDROCK ?? null,
      baseUrl: values.ANTHROPIC_BASE_URL ?? null,
    },
  };
}
