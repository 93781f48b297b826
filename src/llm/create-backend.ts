import { createAccessGatewayBackend } from './access-gateway.ts';
import { createAnthropicBackend } from './anthropic.ts';
import type { ModelBackend } from './backend.ts';
import { bedrockModel, createBedrockBackend } from './bedrock.ts';

/** How the model is reached. */
export type ModelAccess =
  | { readonly kind: 'anthropic'; readonly apiKey: string; readonly baseUrl: string | null }
  | {
      readonly kind: 'bedrock';
      readonly region: string;
      /** Null: requests are signed, with the credentials that AWS's own chain finds. */
      readonly apiKey: string | null;
      readonly baseUrl: string | null;
    }
  | { readonly kind: 'access-gateway'; readonly apiKey: string; readonly baseUrl: string };

/** The seed's factory: a backend by configuration. */
export function createBackend(access: ModelAccess): ModelBackend {
  switch (access.kind) {
    case 'anthropic':
      return createAnthropicBackend(access);
    case 'bedrock':
      return createBedrockBackend(access);
    case 'access-gateway':
      return createAccessGatewayBackend(access);
  }
}

/** What the server at the other end calls the model. */
export function modelName(access: ModelAccess, model: string): string {
  return access.kind === 'anthropic' ? model : bedrockModel(model);
}
