import { expect, it } from 'vitest';
import type { Settings } from '../../../src/actions/policy/workspace-settings.ts';
import { readSettings, settingsView } from '../../../src/slack/views/onboarding.ts';
import { noSetUp } from '../../support/slack-services.ts';

const group = (name: string) => ({ kind: 'group' as const, name });

function offered(id: string, values: Settings, groups: readonly string[]) {
  const settings = { ...noSetUp.settings, isFixed: () => false };
  const view = settingsView({ settings, version: 3, values, groups, schedules: [], problem: null });
  const field = view.blocks.find(({ block_id }) => block_id === id) as unknown as {
    readonly element: {
      readonly options: readonly { readonly value: string }[];
      readonly initial_option?: { readonly value: string };
    };
  };
  return {
    options: field.element.options.map(({ value }) => value),
    chosen: field.element.initial_option?.value,
  };
}

it.each([
  ['none are told', []],
  ['it was renamed', ['on-callers']],
  ['there are more than Slack takes', Array.from({ length: 140 }, (_, n) => `g${n}`)],
])('the window offers the group that is chosen, and the one in force, where %s', (_, groups) => {
  const values: Settings = { approvers: [group('mine')], oncallGroup: 'mine' };
  for (const id of ['approver_group', 'oncall_group']) {
    const { options, chosen } = offered(id, values, groups);
    expect(chosen).toBe('mine');
    expect(options).toEqual(['mine', 'oncall', ...groups].slice(0, 100));
  }
  expect(offered('approver_group', { approvers: [] }, groups)).toMatchObject({ chosen: undefined });
});

it('a group that the window did not ask for stays; one that was cleared goes', () => {
  const current = { approvers: [group('@mine')], oncallGroup: 'mine' };
  expect(readSettings({}, current)).toMatchObject({ approvers: [group('mine')], oncallGroup: 'mine' });
  const cleared = { selected_option: null };
  expect(
    readSettings(
      { approver_group: { approver_group: cleared }, oncall_group: { oncall_group: cleared } },
      current,
    ),
  ).toMatchObject({ approvers: [], oncallGroup: null });
});
