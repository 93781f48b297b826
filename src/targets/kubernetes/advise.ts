import type { Advice, FailedRead } from '../kind.ts';

/** What to do when a cluster cannot be read. */
export function adviseKubernetes({ code, target, output }: FailedRead): Advice | null {
  switch (code ?? '') {
    case 'KUBERNETES_AWAY':
      return { way: 'run', isAway: true };
    case 'KUBERNETES_BUSY':
    case 'KUBERNETES_GONE':
      return { way: 'run', isAway: false };
    case 'KUBERNETES_FORBIDDEN':
      return {
        way: 'grant',
        steps: {
          who: `An administrator of ${target}.`,
          what: 'Add this rule to the role that Sentry is bound to (deploy/kubernetes has the whole of it):',
          exact: ruleFor(output ?? ''),
          note: 'It counts at once. Sentry needs no right to read secrets.',
        },
      };
    case 'KUBERNETES_UNAUTHORIZED':
      return {
        way: 'grant',
        steps: {
          who: 'Whoever runs Sentry.',
          what: `The credential that Sentry reads ${target} with does not count any more. Put a new token or certificate into the kubeconfig that sentry.yaml names.`,
          exact: null,
          note: 'Restart Sentry afterwards: it reads its configuration at the start.',
        },
      };
    case 'KUBERNETES_NOT_SERVED':
      return {
        way: 'explain',
        hint: 'The cluster does not have that API; what pods and nodes use needs the metrics server.',
      };
    default:
      return /^KUBERNETES_5\d\d$/.test(code ?? '') ? { way: 'run', isAway: false } : null;
  }
}

/** The missing right stands in the failure's own words: `may not list deployments.apps in shop`. */
const RIGHT = /may not (\w+) ([a-z]+)((?:\.[a-z0-9.-]+)?)((?:\/[a-z]+)?) in (the whole cluster|[a-z0-9-]+):/;

function ruleFor(said: string): string | null {
  const [, verb, plural, group = '', sub = '', where] = RIGHT.exec(said) ?? [];
  if (verb === undefined) return null;
  const scope = where === 'the whole cluster' ? 'ClusterRole' : `Role in namespace ${where}`;
  return `# ${scope}\n- apiGroups: ["${group.slice(1)}"]\n  resources: ["${plural}${sub}"]\n  verbs: ["${verb}"]`;
}
