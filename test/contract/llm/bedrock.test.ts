import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createScriptedClaude, type ScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createBedrockBackend } from '../../../src/llm/bedrock.ts';
import { createModelGateway } from '../../../src/llm/gateway.ts';
import type { LlmError } from '../../../src/llm/llm-error.ts';
import { REQUEST } from './support.ts';

const region = 'eu-central-1';
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
const SAID = () => ({ blocks: [{ text: 'Session 4711.' }] });

let claude: ScriptedClaude | undefined;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sentry-aws-'));
  // Nothing of the machine: no instance role, no files in the home folder.
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'config'));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'));
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await claude?.close();
  claude = undefined;
  await rm(folder, { recursive: true });
});

/** The clients as the product makes them, in front of a door that takes only what `credentials` signed. */
async function startBedrock(
  options: Partial<Parameters<typeof createBedrockBackend>[0]> = {},
  service: 'bedrock' | 'bedrock-mantle' = 'bedrock-mantle',
) {
  const server = await createScriptedClaude({
    scenario: SAID,
    bedrock: { service, auth: { region, credentials } },
  });
  claude = server;
  const { stream } = createModelGateway({
    backend: createBedrockBackend({ region, baseUrl: server.url, ...options }),
    retry: { baseDelayMs: 1 },
  });
  return {
    server,
    ask: (model: string, deadlineMs = 10_000) =>
      stream(
        { ...REQUEST, model },
        { signal: new AbortController().signal, deadlineMs, onEvent: () => undefined },
      ),
  };
}

describe('a model’s name', () => {
  it.each([
    ['anthropic.claude-opus-5-5', 'bedrock-mantle'],
    ['eu.anthropic.claude-opus-5-5-v1:0', 'bedrock'],
    ['anthropic.claude-opus-5-5-v1:0', 'bedrock'],
    ['anthropic.claude-opus-5-v1', 'bedrock'],
    ['arn:aws:bedrock:eu-central-1:1:inference-profile/eu.anthropic.claude-opus-5-5-v1:0', 'bedrock'],
  ] as const)('%s chooses the door that knows it: %s', async (model, service) => {
    const { ask } = await startBedrock({ credentials: async () => credentials }, service);
    expect(await ask(model)).toMatchObject({ text: 'Session 4711.', requestId: 'req_scripted_1' });
  });
});

it.each([
  'The provided model identifier is invalid.',
  'Invocation of model ID anthropic.claude-x-v1:0 with on-demand throughput isn’t supported.',
])('a model that is not there is told apart from a defect: %s', async (message) => {
  const { server, ask } = await startBedrock({ credentials: async () => credentials }, 'bedrock');
  server.failNext({ kind: 'http', status: 400, message });
  const error = (await ask('eu.anthropic.claude-opus-5-5-v1:0').catch(
    (reason: unknown) => reason,
  )) as LlmError;
  expect(error).toMatchObject({ code: 'LLM_MODEL_UNKNOWN', retryable: false });
  expect(error.hint).toContain('SENTRY_MODEL');
});

describe('credentials', () => {
  const MODEL = 'anthropic.claude-opus-5-5';

  it('come from the environment', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey);
    vi.stubEnv('AWS_SESSION_TOKEN', credentials.sessionToken);
    const { ask } = await startBedrock();
    expect((await ask(MODEL)).text).toBe('Session 4711.');
  });

  it('come from a profile, and are asked for once, not for every request', async () => {
    const asked = join(folder, 'asked');
    const given = { Version: 1, AccessKeyId: credentials.accessKeyId };
    const answer = {
      ...given,
      SecretAccessKey: credentials.secretAccessKey,
      SessionToken: credentials.sessionToken,
      Expiration: new Date(Date.now() + 3_600_000).toISOString(),
    };
    await writeFile(join(folder, 'answer.json'), JSON.stringify(answer));
    const program = join(folder, 'give');
    await writeFile(program, `#!/bin/sh\necho asked >> '${asked}'\ncat '${join(folder, 'answer.json')}'\n`, {
      mode: 0o755,
    });
    await writeFile(join(folder, 'config'), `[profile oncall]\ncredential_process = ${program}\n`);
    vi.stubEnv('AWS_PROFILE', 'oncall');
    const { ask } = await startBedrock();
    for (let n = 0; n < 3; n++) expect((await ask(MODEL)).text).toBe('Session 4711.');
    expect(readFileSync(asked, 'utf8')).toBe('asked\n');
  });

  it('that are nowhere are missed with where they may be', async () => {
    const { server, ask } = await startBedrock();
    const error = (await ask(MODEL).catch((reason: unknown) => reason)) as LlmError;
    expect(error).toMatchObject({ code: 'LLM_CREDENTIALS', retryable: true });
    expect(error.hint).toContain('AWS_BEARER_TOKEN_BEDROCK');
    expect(server.requests).toHaveLength(0);
  });

  it('that do not come do not hold a call beyond its deadline', async () => {
    const { ask } = await startBedrock({ credentials: () => new Promise(() => undefined) });
    await expect(ask(MODEL, 100)).rejects.toMatchObject({ code: 'LLM_DEADLINE' });
  });

  it('of somebody else are refused, and that is not tried again', async () => {
    const other = { ...credentials, secretAccessKey: 'other' };
    const { server, ask } = await startBedrock({ credentials: async () => other });
    await expect(ask(MODEL)).rejects.toMatchObject({ code: 'LLM_AUTH', retryable: false });
    expect(server.requests).toHaveLength(0);
  });
});
