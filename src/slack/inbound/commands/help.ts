import { type Command, HELP_GROUPS } from './command.ts';

/** What is not typed but said. */
const SAID = [
  '*In an incident’s thread*',
  'Mention me with a question, or with any of these without /sentry and the incident: “stop”, “ack”, “mute 2h”, “merge into INC-3”. “hint: …” makes me look again with what you know. “remember: …” keeps it.',
  '',
  '*Behind the three dots of any message*',
  'Investigate this · Add to memory · Not an incident',
  '',
  '*Alone with me*',
  'Write me a direct message: a command, any question about an incident, or what you see going wrong.',
];

/** Read half awake, on a phone: what to type, by what one wants. Drawn like a story: `*bold*`, `` `code` ``. */
export function formatHelp(commands: readonly Command[]): string {
  const groups = HELP_GROUPS.map((group) => ({
    group,
    forms: commands.filter((command) => command.group === group).flatMap(({ forms }) => forms),
  })).filter(({ forms }) => forms.length > 0);
  return [
    'What I can do:',
    '',
    ...groups.flatMap(({ group, forms }) => [
      `*${group}*`,
      ...forms.map(([typed, does]) => `\`/sentry ${typed}\` ${does}`),
      '',
    ]),
    ...SAID,
  ].join('\n');
}
