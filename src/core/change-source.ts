import { clip } from './clip.ts';
import { OWN_LOOK } from './what-changed.ts';

/** Sources of changes as people call them; the titles of the registry in src/sources, without what stands in brackets there. */
const titles: Readonly<Record<string, string>> = {
  [OWN_LOOK]: 'Sentry’s own looks',
  generic: 'a webhook',
  slack: 'Slack',
  'argo-cd': 'Argo CD',
  flux: 'Flux',
  github: 'GitHub',
  gitlab: 'GitLab',
  jenkins: 'Jenkins',
  launchdarkly: 'LaunchDarkly',
  'terraform-cloud': 'Terraform',
};

/** “Argo CD”, “a webhook”; a mapping or a token of the operator's own by its name. */
export const titleOfSource = (source: string): string => titles[source] ?? clip(source, 60);

/** “seen by Sentry”, “told by Argo CD”. */
export const toldBy = (source: string): string =>
  source === OWN_LOOK ? 'seen by Sentry' : `told by ${titleOfSource(source)}`;
