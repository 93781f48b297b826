import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { EntryOf, TargetConfig } from '../kind.ts';
import { readCredentialFile } from '../read-credential-file.ts';
import type { EngineAddress } from './connect/ask-engine.ts';
import type { Labels } from './engine.ts';

export interface ContainersConfig extends TargetConfig {
  readonly address: EngineAddress;
  readonly only: Labels;
  /** What may be proposed: nothing is, where it is false. */
  readonly acts: boolean;
  /** Whether what becomes of its containers opens incidents. */
  readonly watch: boolean;
}

const path = z.string().regex(/^\//, 'expected an absolute path');

/** The fields of a container engine in `sentry.yaml`, besides those of every target. */
export const containersFields = {
  socket: path.optional().meta({
    description: 'its socket on this machine; the usual one when left out',
    example: '/var/run/docker.sock',
  }),
  /** An engine elsewhere, by TLS with a client certificate only: whoever reaches an engine owns its machine. */
  url: z
    .string()
    .regex(/^https:\/\/[^/@\s]+:\d+$/, 'expected https://HOST:PORT; an engine is reached by TLS only')
    .optional()
    .meta({ description: 'or its address elsewhere, by TLS only', example: 'https://shop-1:2376' }),
  tls: z.strictObject({ ca: path, cert: path, key: path }).optional().meta({
    description: 'files of the certificate for that address',
    example: '{ ca: /etc/sentry/ca.pem, cert: /etc/sentry/cert.pem, key: /etc/sentry/key.pem }',
  }),
  only: z.record(z.string().min(1), z.string()).default({}).meta({
    description: 'labels of the containers under care; the others are neither read nor changed',
    example: '{ com.docker.compose.project: shop }',
  }),
  acts: z.boolean().default(false).meta({
    description: 'whether changes may be proposed',
    example: 'true',
    without: 'it is investigated, never changed',
  }),
  watch: z.boolean().default(false).meta({
    description: 'whether a container that dies, runs out of memory or becomes unhealthy opens an incident',
    example: 'true',
    without: 'what its containers do opens no incident',
  }),
} as const;

/** From its entry in `sentry.yaml`; what is wrong across its fields, as `path: message`. */
export function readContainers(
  { socket, url, tls, ...target }: EntryOf<typeof containersFields>,
  usualSocket: string,
): ContainersConfig | readonly string[] {
  if (socket !== undefined && url !== undefined) return ['url: name a socket or a URL, not both'];
  if ((url === undefined) !== (tls === undefined))
    return ['tls: ca, cert and key belong to a url, and a url needs them'];
  if (url === undefined || tls === undefined)
    return { ...target, address: { socket: socket ?? usualSocket } };
  const { hostname: host, port } = new URL(url);
  try {
    const [ca, cert, key] = [tls.ca, tls.cert, tls.key].map(readCredentialFile) as [string, string, string];
    return { ...target, address: { host, port: Number(port || 443), ca, cert, key } };
  } catch (error) {
    return [`tls: ${messageOf(error)}`];
  }
}
