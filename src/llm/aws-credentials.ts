import { messageOf } from '../core/errors.ts';
import { LlmError } from './llm-error.ts';

/** What requests are signed with, asked for before each one. */
export type AwsCredentials = () => Promise<{
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string;
}>;

/**
 * AWS's own chain: environment, profile (`~/.aws`, single sign-on), web identity, container or instance role. One for all
 * requests, which keeps what it found until shortly before that expires; the SDK would ask anew for each.
 * Rejects with LLM_CREDENTIALS when there are none.
 */
export function awsCredentialChain(): AwsCredentials {
  let chain: Promise<AwsCredentials> | undefined;
  return async () => {
    chain ??= import('@aws-sdk/credential-providers').then(
      // Credentials in the environment win over a profile, as everywhere else at AWS.
      ({ createCredentialChain, fromEnv, fromNodeProviderChain }) =>
        createCredentialChain(fromEnv(), fromNodeProviderChain()),
    );
    const find = await chain;
    try {
      return await find();
    } catch (error) {
      throw new LlmError('LLM_CREDENTIALS', `no AWS credentials: ${messageOf(error)}`, {
        // Roles and single sign-on ask over the network.
        retryable: true,
        cause: error,
      });
    }
  };
}
