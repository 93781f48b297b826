import { randomUUID } from 'node:crypto';
import { type Say, sayStory } from '../../outbound/tell.ts';
import type { Command } from './command.ts';
import { createManualIncident } from './create-manual-incident.ts';
import { handoffCommand } from './handoff-command.ts';
import { formatHelp } from './help.ts';
import { incidentCommand } from './incident-orders.ts';
import { incidentsCommand } from './incidents-command.ts';
import { memoryCommand, promotionsCommand } from './memory-command.ts';
import { mergeCommand } from './merge-command.ts';
import { reportCommand } from './report-command.ts';
import { serviceCommand } from './service-command.ts';
import { settingsCommand } from './settings-command.ts';
import { updateCommand } from './update-command.ts';
import { statusCommand, whyCommand } from './why-command.ts';

/** Everything that `/sentry` does. Help, and what was probably meant by a misspelt name, are made from it. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'why',
    group: 'Ask',
    forms: [['why INC-7', 'what happened, with its evidence, and who approved what']],
    run: whyCommand,
  },
  {
    name: 'incidents',
    group: 'Ask',
    forms: [
      ['incidents', 'the newest'],
      ['incidents open', 'or `today`, `mine`, or a system’s name'],
    ],
    run: incidentsCommand,
  },
  {
    name: 'update',
    group: 'Ask',
    forms: [
      ['update INC-7', 'how it stands, for who is not in its thread: better or worse, who has it, what next'],
    ],
    run: updateCommand,
  },
  {
    name: 'status',
    group: 'Ask',
    forms: [['status', 'am I all right, and is anything stopped?']],
    run: statusCommand,
  },
  serviceCommand('changes', 'Ask', [
    ['changes shop-db 2h', 'what was changed there, and by whom; without a name, everywhere'],
  ]),
  serviceCommand('cost', 'Ask', [['cost', 'what the model cost']]),
  serviceCommand('targets', 'Ask', [['targets', 'does each answer, and what may I do there?']]),
  serviceCommand('oncall', 'Ask', [['oncall', 'who is on call, until when, and who is next']]),
  serviceCommand('runbooks', 'Ask', [
    ['runbooks blocked sessions', 'those that are about it; by its name, the steps of one'],
  ]),
  {
    name: 'investigate',
    group: 'Begin',
    forms: [['investigate checkout is slow', 'opens an incident; so does mentioning me outside a thread']],
    run: (context, { rest, ...asked }) =>
      createManualIncident(context, { ...asked, text: rest, key: randomUUID() }),
  },
  serviceCommand('ack', 'Take', [
    ['ack INC-7', 'you have it, and nobody else is called, until `/sentry release INC-7`'],
  ]),
  serviceCommand('release', 'Take', []),
  {
    name: 'assign',
    group: 'Take',
    forms: [['assign INC-7 @olivia', 'she has it, and is told']],
    run: incidentCommand,
  },
  {
    name: 'severity',
    group: 'Take',
    forms: [['severity INC-7 warning', 'it is as bad as you say']],
    run: incidentCommand,
  },
  {
    name: 'close',
    group: 'Take',
    forms: [['close INC-7 fixed by hand', 'it is over, because you say so']],
    run: incidentCommand,
  },
  {
    name: 'handoff',
    group: 'Hand over',
    forms: [['handoff', 'what is open, waits, is muted or risky, for who takes over']],
    run: handoffCommand,
  },
  {
    name: 'report',
    group: 'Hand over',
    forms: [['report INC-7', 'its post-mortem, made once in its channel, from the record']],
    run: reportCommand,
  },
  serviceCommand('stop', 'Stop', [
    ['stop INC-7', 'one incident rests, until `/sentry resume INC-7`'],
    ['stop', 'nothing is changed anywhere, until `/sentry resume` (admins)'],
    ['stop shop-db for 2h', 'the same for one target or domain'],
  ]),
  serviceCommand('resume', 'Stop', []),
  {
    name: 'merge',
    group: 'One problem, or two',
    forms: [['merge INC-5 into INC-3', 'INC-5 rests as a part of INC-3, until `/sentry split INC-5`']],
    run: mergeCommand,
  },
  { name: 'split', group: 'One problem, or two', forms: [], run: mergeCommand },
  serviceCommand('mute', 'Mute', [
    [
      'mute alertname="DiskFull", severity="warning" 2h deploying',
      'its alerts wait; what still fires then is opened',
    ],
  ]),
  serviceCommand('mutes', 'Mute', [['mutes', 'what is muted; `/sentry unmute M3` ends one']]),
  serviceCommand('unmute', 'Mute', []),
  serviceCommand('silence', 'Mute', [
    ['silence INC-7 2h', 'asks to silence its alert at Alertmanager or Grafana, which somebody approves'],
  ]),
  serviceCommand('watch', 'Watch', [
    ['watch', 'the watched logs, how much comes in, and what cannot be read'],
    [
      'watch stop shop-host',
      'nothing of its logs opens incidents, until `/sentry watch start shop-host` (admins)',
    ],
  ]),
  {
    name: 'memory',
    group: 'Remember',
    forms: [
      ['memory search blocked sessions', 'what you may read about it, past incidents too'],
      ['memory', 'what is remembered, and how to add to it or take back'],
    ],
    run: memoryCommand,
  },
  {
    name: 'promotions',
    group: 'Remember',
    forms: [['promotions', 'what waits to become part of everybody’s memory']],
    run: promotionsCommand,
  },
  {
    name: 'settings',
    group: 'Set up',
    forms: [
      ['settings', 'who decides and where, and what is not well; admins change it'],
      ['settings me', 'what I tell you alone'],
    ],
    run: settingsCommand,
  },
  { name: 'help', group: 'Set up', forms: [], run: async () => helpSay() },
];

export const helpSay = (): Say => sayStory(formatHelp(COMMANDS));
