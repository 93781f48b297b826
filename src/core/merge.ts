import type { IncidentId } from './ids.ts';

/** Why two incidents are taken for one problem. Time alone is none. */
export type MergeReason =
  /** `target` names `neighbour` in the configuration: one of the incidents is on either. */
  | { readonly kind: 'neighbour'; readonly target: string; readonly neighbour: string }
  /**
   * Both are about what one change touched shortly before both began. `isTrusted`: `sentry.yaml` names its source for both systems, or
   * both alerts name the change themselves.
   */
  | {
      readonly kind: 'change';
      readonly isTrusted?: boolean;
      readonly change: { readonly id: string; readonly title: string; readonly url: string | null };
    }
  | { readonly kind: 'person'; readonly by: string };

export type MergeEventBody =
  /** It rests under another, which leads: nothing is looked into here until the two are split. */
  | { readonly type: 'incident.merged'; readonly into: IncidentId; readonly because: MergeReason }
  /** On its own again. `by` null: the leading incident ended, or waits for people, while this one still fires. */
  | { readonly type: 'incident.split'; readonly from: IncidentId; readonly by: string | null }
  /** The same, on the record of the one that leads. */
  | {
      readonly type: 'member.merged';
      readonly incident: IncidentId;
      readonly because: MergeReason;
    }
  | { readonly type: 'member.split'; readonly incident: IncidentId; readonly by: string | null };

/** In a few words, as it stands after “part of INC-3:”. A person is a Slack mention. */
export function formatMergeReason(because: MergeReason): string {
  switch (because.kind) {
    case 'neighbour':
      return `${because.neighbour} is declared a neighbour of ${because.target}`;
    case 'change':
      return `both came after the same change, ${because.change.title}`;
    case 'person':
      return `<@${because.by}> put them together`;
  }
}
