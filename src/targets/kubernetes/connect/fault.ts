import { messageOf, OpsError } from '../../../core/errors.ts';
import { oneLine } from '../../format.ts';
import type { Right } from '../cluster.ts';

/** What was asked, for people and for the right that it takes. */
export interface Asked {
  readonly verb: Right['verb'] | 'create';
  /** `pods of shop`, `deployment web of shop`. */
  readonly what: string;
  /** Left out: everybody has it. */
  readonly right?: Right;
}

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
interface Status {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** An answer that is no. */
export function faultOf(status: number, body: string, asked: Asked): OpsError {
  const { kind, message } = statusOf(body);
  const said = oneLine(message ?? body, 400);
  switch (status) {
    case 401:
      return fault('UNAUTHORIZED', `The cluster does not take Sentry's credential: ${said}`, {
        hint: 'Renew the token or the certificate of the kubeconfig that sentry.yaml names.',
      });
    case 403:
      return fault(
        'FORBIDDEN',
        `Sentry may not ${asked.right ? rightText(asked.right) : `${asked.verb} ${asked.what}`}: ${said}`,
        {
          hint: 'Add the rule to its role, or leave this out.',
        },
      );
    case 404:
      // A server that does not have the API at all answers without a status.
      return kind === 'Status' && !/could not find the requested resource/.test(said)
        ? fault('NOT_FOUND', `${asked.what}: ${said}`, { hint: 'List what is there.' })
        : fault('NOT_SERVED', `The cluster has no API for ${asked.what}.`, {
            hint: 'Numbers of use need the metrics server.',
          });
    case 409:
      return fault('CONFLICT', `${asked.what} is not as it was: ${said}`, { hint: 'Look at it again.' });
    case 410:
      return fault('GONE', `The page of ${asked.what} has expired: ${said}`, {
        hint: 'List it from its beginning.',
      });
    case 429:
      return fault('BUSY', `The cluster wants to be asked later for ${asked.what}: ${said}`, {
        hint: 'Ask again in a minute.',
        retryable: true,
      });
    default:
      return fault(String(status), `The cluster refused to ${asked.verb} ${asked.what}: ${said}`, {
        hint: 'Its own words say what is wrong.',
        retryable: status >= 500,
      });
  }
}

/** No answer, or not to its end. */
export function asAway(
  error: unknown,
  asked: Asked,
  server: string,
  limit: AbortSignal | undefined,
): OpsError {
  const why = limit?.aborted ? 'in time' : `: ${messageOf(error)}`;
  return fault(
    'AWAY',
    `The API server ${server} did not answer about ${asked.what} ${why}`.replace(' : ', ': '),
    {
      hint: 'Look whether it runs, and whether it can be reached from here.',
      retryable: true,
      cause: error,
    },
  );
}

function fault(
  code: string,
  message: string,
  options: { readonly hint: string; readonly retryable?: boolean; readonly cause?: unknown },
): OpsError {
  return new OpsError(`KUBERNETES_${code}`, message, options);
}

/** `list deployments.apps in shop`: what `advise.ts` reads back. */
export function rightText({ verb, group, resource, namespace }: Right): string {
  const [plural, ...sub] = resource.split('/');
  const named = [`${plural}${group === '' ? '' : `.${group}`}`, ...sub].join('/');
  return `${verb} ${named} in ${namespace ?? 'the whole cluster'}`;
}

function statusOf(body: string): Status {
  try {
    return JSON.parse(body) as Status;
  } catch {
    return {};
  }
}
