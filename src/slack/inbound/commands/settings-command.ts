import { settingNames } from '../../../actions/policy/workspace-settings.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { maySetUp } from '../../people/may-set-up.ts';
import { isToldOfApprovals } from '../../people/preferences.ts';
import { bold, buttons, heading, list, paragraph, prose, words } from '../../views/blocks/build.ts';
import {
  findingBlocks,
  openButton,
  settingLabels,
  settingSpans,
  tellMeButton,
  testButton,
} from '../../views/onboarding.ts';
import { findings } from '../onboarding/settings.ts';
import type { Asked } from './command.ts';

/** `/sentry settings`, and `settings me`. */
export async function settingsCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { userId, teamId, rest } = asked;
  const member = await context.directory.mayAct(userId, teamId);
  if (!member.ok) return sayText(member.reason);
  if (/^(me|mine|my)\b/i.test(rest.trim())) return mine(context, userId);
  const { settings } = context.deps.setUp;
  const may = await maySetUp(context, userId, teamId);
  const where = [
    heading('Settings'),
    prose(
      list(
        settingNames.map((name) => [
          bold(settingLabels[name].name),
          words(': '),
          ...settingSpans(settings, name),
          ...(settings.isFixed(name) ? [words(` · environment (${settingLabels[name].variable})`)] : []),
        ]),
      ),
    ),
  ];
  if (!may.ok) return { text: 'Settings', blocks: [...where, prose(paragraph(words(may.reason)))] };
  return {
    text: 'Settings',
    blocks: [
      ...where,
      ...findingBlocks(await findings(context)),
      buttons(openButton('Change settings'), testButton()),
    ],
  };
}

async function mine({ deps }: SlackContext, userId: string): Promise<Say> {
  const told = await isToldOfApprovals(deps.sql, userId);
  const says = told
    ? 'I write to you when an approval waits that you may give. Times are in your own zone, as Slack has it.'
    : 'I do not write to you when an approval waits that you may give. Times are in your own zone, as Slack has it.';
  return { text: says, blocks: [prose(paragraph(words(says))), buttons(tellMeButton(told))] };
}
