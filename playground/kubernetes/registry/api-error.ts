import type { Resource } from '../resources.ts';

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** What the API answers instead of an object: the fields of a `Status`. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Details | undefined;

  constructor(code: number, reason: string, message: string, details?: Details) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** As it goes over the wire. */
  status(): object {
    const { code, reason, message, details } = this;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** A resource in the words of messages: `deployments.apps`, `pods`. */
export const qualified = ({ plural, group }: Pick<Resource, 'plural' | 'group'>): string =>
  group === '' ? plural : `${plural}.${group}`;

const detailsOf = ({ plural, group }: Resource, name: string): Details => ({
  name,
  ...(group === '' ? {} : { group }),
  kind: plural,
});

export const notFound = (resource: Resource, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));

export const alreadyExists = (resource: Resource, name: string): ApiError =>
  new ApiError(
    409,
    'AlreadyExists',
    `${qualified(resource)} "${name}" already exists`,
    detailsOf(resource, name),
  );

export const conflict = (
  resource: Resource,
  name: string,
  why = 'the object has been modified; please apply your changes to the latest version and try again',
): ApiError =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    detailsOf(resource, name),
  );

/** An admission rule says no. */
export const forbidden = (resource: Resource, name: string, why: string): ApiError =>
  new ApiError(
    403,
    'Forbidden',
    `${qualified(resource)} "${name}" is forbidden: ${why}`,
    detailsOf(resource, name),
  );

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', 'Unauthorized');

export const methodNotAllowed = (): ApiError =>
  new ApiError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );

export const unsupportedMediaType = (accepted: readonly string[]): ApiError =>
  new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    {},
  );

/** A list or a watch would begin at a time that the server no longer remembers. */
export const expired = (message: string): ApiError => new ApiError(410, 'Expired', message);

export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds });

export const internalError = (why: string): ApiError =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${why}`, {
    causes: [{ reason: '', message: why, field: '' }],
  });

/** A 422 with each field that is wrong, as the validation of the real server words it. */
export function invalid(resource: Resource, name: string, causes: readonly StatusCause[]): ApiError {
  const all = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = all.length === 1 ? all[0] : `[${all.join(', ')}]`;
  const kind = resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`;
  return new ApiError(422, 'Invalid', `${kind} "${name}" is invalid: ${text}`, {
    name,
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.kind,
    causes,
  });
}
