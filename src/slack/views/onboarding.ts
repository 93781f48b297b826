import type { types } from '@slack/bolt';
import type { SettingName, Settings, WorkspaceSettings } from '../../actions/policy/workspace-settings.ts';
import type { Finding } from '../../core/finding.ts';
import { isGroupId, type Principal } from '../../core/principal.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  group,
  heading,
  list,
  paragraph,
  person,
  prose,
  type Span,
  words,
} from './blocks/build.ts';
import { cut, oneLine } from './blocks/text.ts';
import {
  channelField,
  choiceOrNone,
  type Entered,
  form,
  peopleField,
  readChosen,
  readField,
} from './form.ts';
import { modal } from './modal.ts';

export const SETTINGS_VIEW = 'sentry_settings_view';

export const SETTINGS_ACTIONS = {
  open: 'sentry_settings',
  test: 'sentry_settings_test',
  tellMe: 'sentry_tell_me',
} as const;

/** What comes back with the window: of which version it shows. */
export interface SettingsContext {
  readonly version: number;
}

/** How people call each, and the variable that sets it. */
export const settingLabels: Readonly<
  Record<SettingName, { readonly name: string; readonly variable: string }>
> = {
  alertChannels: { name: 'Alert channels', variable: 'SENTRY_ALERT_CHANNELS' },
  approvers: { name: 'Approvers', variable: 'SENTRY_APPROVERS' },
  admins: { name: 'Admins', variable: 'SENTRY_ADMINS' },
  oncallGroup: { name: 'On call', variable: 'SENTRY_ONCALL_GROUP' },
  adminChannel: { name: 'Admin channel', variable: 'SENTRY_ADMIN_CHANNEL' },
};

/** What the window is drawn from. */
export interface SettingsParts {
  readonly settings: WorkspaceSettings;
  /** Of the settings that the window began with: what it saves counts while they are in force. */
  readonly version: number;
  /** What stands in the fields: what is in force, or what somebody has just entered. Channels by id. */
  readonly values: Settings;
  /** Handles of the workspace's user groups; none on a free plan, or where Slack does not tell them. */
  readonly groups: readonly string[];
  /** Schedules of sentry.yaml, which say who is on call. */
  readonly schedules: readonly string[];
  /** Why what was entered is not saved; null: nothing was, yet. */
  readonly problem: string | null;
}

export function settingsView(parts: SettingsParts): types.ModalView {
  const { version, problem } = parts;
  const metadata: SettingsContext = { version };
  return form({
    callback: SETTINGS_VIEW,
    title: 'Set up Sentry',
    submit: 'Save',
    metadata,
    blocks: [
      ...(problem === null ? [] : [prose(paragraph(bold('Nothing is saved. '), words(problem)))]),
      prose(
        paragraph(
          words(
            'Only admins change this. What is set in the environment is shown and comes first: it is changed there.',
          ),
        ),
      ),
      ...fields(parts),
    ],
  });
}

const users = (principals: readonly Principal[] = []): readonly string[] =>
  principals.flatMap((one) => (one.kind === 'user' ? [one.id] : []));
const groupOf = (principals: readonly Principal[] = []): string | null =>
  principals.find((one) => one.kind === 'group')?.name.replace(/^@/, '') ?? null;

function fields(parts: SettingsParts): readonly Block[] {
  const { settings, values, groups, schedules } = parts;
  const free = (name: SettingName, made: () => readonly Block[]): readonly Block[] =>
    settings.isFixed(name) ? [fixedLine(settings, name)] : made();
  // What is chosen or in force is offered also where Slack lists it no more, or not at all: it is taken off by a person alone.
  const groupField = (
    id: string,
    label: string,
    chosen: string | null,
    current: string | null,
    hint: string,
  ): readonly Block[] => {
    const offered = [...new Set([...[chosen, current].filter((one) => one !== null), ...groups])];
    return offered.length > 0 ? [choiceOrNone(id, label, offered, chosen, hint)] : [];
  };
  const oncall = groupField(
    FIELDS.oncallGroup,
    'Group on call',
    values.oncallGroup ?? null,
    settings.oncallGroup,
    'Who is called when something needs a person; without one, whoever may approve.',
  );
  return [
    ...free('alertChannels', () => [
      channelField(
        FIELDS.alertChannels,
        'Alert channels',
        values.alertChannels ?? [],
        'What other apps post there is an alert. Incidents of webhooks begin in the first.',
        true,
      ),
    ]),
    ...free('approvers', () => [
      peopleField(
        FIELDS.approvers,
        'Who may approve fixes',
        users(values.approvers),
        'People, a group, or both.',
      ),
      ...groupField(
        FIELDS.approverGroup,
        'Group that may approve fixes',
        groupOf(values.approvers),
        groupOf(settings.approvers),
        'Its members at the moment of the press.',
      ),
    ]),
    ...(schedules.length > 0
      ? [prose(paragraph(bold('On call'), words(`: ${cut(schedules.join(', '), 300)}, by sentry.yaml.`)))]
      : free('oncallGroup', () =>
          oncall.length > 0
            ? oncall
            : [
                prose(
                  paragraph(bold('On call'), words(': whoever may approve, since I see no user groups.')),
                ),
              ],
        )),
    ...free('admins', () => [
      peopleField(
        FIELDS.admins,
        'Admins',
        users(values.admins),
        'They stop everything, decide what everybody’s memory says, and change this.',
      ),
    ]),
    ...free('adminChannel', () => [
      channelField(
        FIELDS.adminChannel,
        'Admin channel',
        values.adminChannel ? [values.adminChannel] : [],
        'Where proposals for memory and changes of these settings are told.',
        false,
      ),
    ]),
  ];
}

const FIELDS = {
  alertChannels: 'alert_channels',
  approvers: 'approvers',
  approverGroup: 'approver_group',
  oncallGroup: 'oncall_group',
  admins: 'admins',
  adminChannel: 'admin_channel',
} as const;

const fixedLine = (settings: WorkspaceSettings, name: SettingName): Block => {
  const label = settingLabels[name];
  return prose(
    paragraph(
      bold(label.name),
      words(': '),
      ...settingSpans(settings, name),
      words(` · set in the environment (${label.variable})`),
    ),
  );
};

/** As it is in force, for who reads it alone: in a message to many these spans would ring the people. */
export function settingSpans(settings: WorkspaceSettings, name: SettingName): readonly Span[] {
  switch (name) {
    case 'alertChannels':
      return apart(settings.alertChannels.map(channelSpan));
    case 'adminChannel':
      return [channelSpan(settings.adminChannel)];
    case 'oncallGroup':
      return [settings.oncallGroup === null ? words('whoever may approve') : groupSpan(settings.oncallGroup)];
    case 'approvers':
    case 'admins':
      return settings[name].length === 0 ? [words('nobody yet')] : apart(settings[name].map(principalSpan));
  }
}

function principalSpan(one: Principal): Span {
  if (one.kind === 'user') return person(one.id);
  return one.kind === 'group' ? groupSpan(one.name) : channelSpan(one.id);
}

/** Of an id, as Slack writes the group out for its reader. */
const groupSpan = (name: string): Span => {
  const bare = name.replace(/^@/, '');
  return isGroupId(bare) ? group(bare) : words(`@${bare}`);
};

const MOST_NAMED = 30;

function apart(spans: readonly Span[]): readonly Span[] {
  const shown = spans.slice(0, MOST_NAMED).flatMap((span, at) => (at === 0 ? [span] : [words(', '), span]));
  return spans.length > MOST_NAMED ? [...shown, words(` and ${spans.length - MOST_NAMED} more`)] : shown;
}

const channelSpan = (idOrName: string): Span =>
  /^[CG][A-Z0-9]{5,}$/.test(idOrName)
    ? { type: 'channel', channel_id: idOrName }
    : words(`#${idOrName.replace(/^#/, '')}`);

/** What was entered. A group that the window did not ask for stays what it is in `current`. */
export function readSettings(
  values: Entered,
  current: Pick<WorkspaceSettings, 'approvers' | 'oncallGroup'>,
): Settings {
  const user = (id: string): Principal => ({ kind: 'user', id });
  // Slack sends each field that was shown, also an empty one.
  const read = (id: string, otherwise: string | null): string | null =>
    id in values ? readField(values, id) || null : otherwise;
  const group = read(FIELDS.approverGroup, groupOf(current.approvers));
  return {
    alertChannels: [...readChosen(values, FIELDS.alertChannels)],
    approvers: [
      ...readChosen(values, FIELDS.approvers).map(user),
      ...(group ? [{ kind: 'group' as const, name: group }] : []),
    ],
    admins: readChosen(values, FIELDS.admins).map(user),
    oncallGroup: read(FIELDS.oncallGroup, current.oncallGroup),
    adminChannel: readChosen(values, FIELDS.adminChannel)[0] ?? null,
  };
}

/** What was looked at, what is wrong first. */
export function findingBlocks(findings: readonly Finding[]): readonly Block[] {
  const sorted = findings.toSorted((a, b) => Number(a.ok) - Number(b.ok));
  return [
    prose(
      list(
        sorted
          .slice(0, 40)
          .map(({ part, ok, says, todo }) => [
            words(`${ok ? '✓' : '✗'} `),
            bold(cut(oneLine(part), 80)),
            words(`: ${cut(oneLine(says), 400)}${todo === null ? '' : ` → ${cut(oneLine(todo), 400)}`}`),
          ]),
      ),
    ),
  ];
}

export function savedView(findings: readonly Finding[]): types.ModalView {
  const ill = findings.filter(({ ok }) => !ok).length;
  return modal('Saved', [
    prose(
      paragraph(
        bold('Saved. '),
        words(
          ill === 0
            ? 'All is well. A test incident shows the whole way: it changes nothing and closes by itself.'
            : `${ill === 1 ? 'One thing needs' : `${ill} things need`} you:`,
        ),
      ),
    ),
    ...findingBlocks(findings),
    buttons(testButton()),
  ]);
}

/** For who may set it up, until it is. */
export const welcomeBlocks = (): readonly Block[] => [
  heading('Welcome: three minutes to set me up'),
  prose(
    paragraph(
      words(
        'Nobody can approve a fix yet. Say where alerts come from, who approves, who is on call and who the admins are; then I look whether all is well, and raise a test incident if you like.',
      ),
    ),
  ),
  buttons(openButton()),
];

export const openButton = (text = 'Set up Sentry') =>
  button({ text, action: SETTINGS_ACTIONS.open, value: 'open', style: 'primary' });

export const testButton = () =>
  button({ text: 'Raise a test incident', action: SETTINGS_ACTIONS.test, value: 'test' });

/** `on`: they are told now. */
export const tellMeButton = (on: boolean) =>
  button({
    text: on ? 'Do not tell me' : 'Tell me',
    action: SETTINGS_ACTIONS.tellMe,
    value: on ? 'off' : 'on',
  });
