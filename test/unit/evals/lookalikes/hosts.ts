import type { Json } from '../../../../src/core/tool-call.ts';
import type { Lookalike, Seen } from './lookalike.ts';

const host = (
  alert: string,
  sees: readonly Seen[],
  says: RegExp,
  more: Partial<Lookalike> = {},
): Lookalike => ({ alert, domain: 'docker', sees, says, ...more });

const down = {
  service: 'gateway',
  state: 'stopped',
  running: false,
  main_pid: null,
  says: 'pid 8 does not run',
};
const status = (...services: Json[]): Seen => ({ tool: 'service_status', data: { services } });
const again = (service: Record<string, Json>): Seen => ({
  tool: 'service_status',
  args: { service: String(service['service']) },
  text: `${String(service['service'])}: ${String(service['says'])}`,
  data: service,
});
const files = (order: string, listed: readonly Record<string, Json>[], disk: Json, args = {}): Seen => ({
  tool: 'list_files',
  args: { order, ...args },
  data: {
    files: listed.map((file) => ({
      name: String(file['path']).split('/').at(-1) ?? '',
      size_bytes: 1_000,
      modified_age_seconds: 60,
      growth_bytes_per_second: 0,
      ...file,
    })),
    disk,
  },
});
const room = { used_percent: 40, free_bytes: 9e11, size_bytes: 2e12 };
const log = '/srv/gw/logs/gateway.log';
const endOf = (path: string, ...lines: string[]): Seen => ({
  tool: 'read_file',
  args: { path, lines: 15, last: true },
  text: [path, ...lines].join('\n'),
  data: { path, binary: false, text: lines.join('\n') },
});
const ends = (...lines: string[]): Seen => endOf(log, ...lines);
const working = ends('INFO request 1', 'INFO request 2', 'INFO request 3');
/** A unit, as its supervisor tells of it. */
const unit = (says: string, more: Record<string, Json> = {}): readonly Seen[] => {
  const service = { ...down, restarts: 0, says, ...more };
  return [status(service), again(service), files('modified', [{ path: log }], room, { limit: 100 }), working];
};
const errors = '/srv/gw/logs/gateway-error.log';
const bothLogs = (one: Seen, other: Seen): readonly Seen[] => [
  status(down),
  again(down),
  files('modified', [{ path: log }, { path: errors }], room, { limit: 100 }),
  one,
  other,
];
const growing = (file: Record<string, Json>, disk: Json): Seen =>
  files('growth', [file], disk, { limit: 50, watch_seconds: 5 });
const changedAnHourAgo = [
  { path: '/srv/gw/gateway.yml', modified_age_seconds: 3_600 },
  { path: '/srv/gw/gateway.yml.bak', modified_age_seconds: 3_600 },
  { path: log },
];
const named = (...lines: string[]): Seen => ({
  tool: 'grep_search',
  args: { query: 'gateway.yml', literal: true, max_results: 20 },
  data: { matches: lines.map((text, at) => ({ path: log, line: at + 1, text })), count: lines.length },
});
const differs: Seen = {
  tool: 'compare_files',
  args: { path: '/srv/gw/gateway.yml', with: '/srv/gw/gateway.yml.bak' },
  data: { same: false, missing: false, diff: '-a\n+b', added: 1, removed: 1 },
};

export const hostLookalikes: Readonly<Record<string, Lookalike>> = {
  'a unit that is masked': host(
    'HostServiceDown',
    [status({ ...down, says: 'failed, masked' }), again({ ...down, says: 'failed, masked' })],
    /on purpose/,
  ),
  'a service that was told to stop': host(
    'HostServiceDown',
    [
      status(down),
      again(down),
      files('modified', [{ path: log }], room, { limit: 100 }),
      ends('INFO request 1', 'INFO received SIGTERM, shutting down'),
    ],
    /told to stop/,
  ),
  'another unit than those that are declared': host(
    'HostSystemdServiceFailed',
    [status({ ...down, running: true })],
    /nginx\.service/,
    { title: 'A unit has failed', labels: { name: 'nginx.service' } },
  ),
  'an error from long before the end': host(
    'HostServiceDown',
    [
      status(down),
      again(down),
      files('modified', [{ path: log }], room, { limit: 100 }),
      ends('ERROR relay refused', ...Array.from({ length: 8 }, (_, i) => `INFO request ${i}`)),
    ],
    /last lines of its log show no error, so why it stopped is not known/,
    { verdict: 'cause_found' },
  ),
  'a reason in the other one of two logs': host(
    'HostServiceDown',
    bothLogs(working, endOf(errors, 'FATAL licence expired')),
    /^gateway is not running: its licence is not valid/,
    { verdict: 'cause_found' },
  ),
  'last words that nobody knows, in the other one of two logs': host(
    'HostServiceDown',
    bothLogs(working, endOf(errors, 'the moon is low')),
    /I recognise no reason in the last lines of its log: the moon is low/,
  ),
  'two logs that both end in the middle of the work': host(
    'HostServiceDown',
    bothLogs(working, endOf(errors, 'INFO order 9', 'INFO order 10')),
    /why it stopped is not known/,
    { verdict: 'cause_found' },
  ),
  'a unit that a signal ended': host(
    'HostServiceDown',
    unit('failed (failed), result signal'),
    /a signal ended it, says its supervisor/,
    { verdict: 'cause_found' },
  ),
  'a unit that the kernel killed for memory': host(
    'HostServiceDown',
    unit('failed (failed), result oom-kill'),
    /killed it for lack of memory/,
    { verdict: 'cause_found' },
  ),
  'a unit that ended itself, and whose log says nothing of it': host(
    'HostServiceDown',
    unit('failed (failed), result exit-code'),
    /result exit-code.* Its log shows no reason/,
  ),
  'a unit that was started until its supervisor gave up': host(
    'HostServiceDown',
    unit('failed (failed), result start-limit-hit', { restarts: 5 }),
    /started again and again\. I recognise no reason/,
  ),
  'an error of another service about this one': host(
    'HostServiceDown',
    [
      status(down),
      again(down),
      files('modified', [{ path: '/srv/logs/billing.log' }], room, { limit: 100 }),
      {
        tool: 'grep_search',
        args: { query: 'gateway', literal: true, max_results: 60 },
        data: {
          matches: [
            {
              path: '/srv/logs/billing.log',
              line: 1,
              text: 'ERROR call of gateway failed: connection refused',
            },
          ],
        },
      },
    ],
    /No log that Sentry may read says why$/,
  ),
  'a line of its own in the log of the system': host(
    'HostServiceDown',
    [
      status(down),
      again(down),
      files('modified', [{ path: '/var/log/syslog' }], room, { limit: 100 }),
      {
        tool: 'grep_search',
        args: { query: 'gateway', literal: true, max_results: 60 },
        text: 'Nov 22 10:00:00 web-1 gateway[12]: FATAL licence expired',
        data: {
          matches: [
            {
              path: '/var/log/syslog',
              line: 1,
              text: 'Nov 22 10:00:00 web-1 gateway[12]: FATAL licence expired',
            },
          ],
        },
      },
    ],
    /its licence is not valid\. The last that a log has of it/,
    { verdict: 'cause_found' },
  ),
  'a log whose lines do not repeat': host(
    'HostDiskAlmostFull',
    [
      growing(
        { path: log, growth_bytes_per_second: 9e7 },
        { used_percent: 91, free_bytes: 9e9, size_bytes: 1e11 },
      ),
      status({ ...down, running: true, main_pid: 8 }),
      {
        tool: 'read_file',
        args: { path: log, lines: 200, last: true },
        data: { path: log, binary: false, lines: 6, text: 'one\ntwo\nthree\nfour\nfive\nsix' },
      },
    ],
    /no line of it repeats/,
  ),
  'a changed configuration of which no log complains': host(
    'HostServiceDown',
    [
      status(down),
      again(down),
      files('modified', changedAnHourAgo, room, { limit: 100 }),
      differs,
      named('INFO read gateway.yml'),
      ends('INFO read gateway.yml', 'panic: index out of range'),
    ],
    /ends with: panic/,
    { verdict: 'cause_found' },
  ),
  'a changed configuration of another service, of which that one complains': host(
    'HostBadConfiguration',
    [
      status(down, { ...down, service: 'mailer', running: true }),
      again(down),
      files('modified', changedAnHourAgo, room, { limit: 100 }),
      differs,
      {
        tool: 'grep_search',
        args: { query: 'gateway.yml', literal: true, max_results: 20 },
        data: { matches: [{ path: '/srv/mailer/logs/mailer.log', line: 1, text: 'ERROR gateway.yml: bad' }] },
      },
      ends('panic: index out of range'),
    ],
    /ends with: panic/,
    { verdict: 'cause_found' },
  ),
  'a complaint of long ago about the file that was changed': host(
    'HostBadConfiguration',
    [
      status(down),
      again(down),
      files('modified', changedAnHourAgo, room, { limit: 100 }),
      differs,
      named('ERROR gateway.yml: unknown key'),
      ends('panic: index out of range'),
    ],
    /ends with: panic/,
    { verdict: 'cause_found' },
  ),
  'a disk full of other things, beside a log that grows as always': host(
    'HostDiskAlmostFull',
    [
      growing(
        { path: log, growth_bytes_per_second: 25_000, size_bytes: 5e6 },
        { used_percent: 99.9, free_bytes: 1e7, size_bytes: 1e11 },
      ),
    ],
    /nearly full/,
  ),
  'a disk that has been 91 % full for a year': host(
    'HostDiskAlmostFull',
    [
      growing(
        { path: log, growth_bytes_per_second: 25_000 },
        { used_percent: 91, free_bytes: 9e11, size_bytes: 1e13 },
      ),
    ],
    /nearly full/,
  ),
  'a dump that fills the disk': host(
    'HostDiskAlmostFull',
    [
      growing(
        { path: '/srv/gateway/dump.sql', growth_bytes_per_second: 9e7 },
        { used_percent: 91, free_bytes: 9e9, size_bytes: 1e11 },
      ),
      status({ ...down, running: true }),
    ],
    /is no log/,
  ),
  'the log of a service with a longer name': host(
    'HostDiskAlmostFull',
    [
      growing(
        { path: '/srv/logs/gateway-billing.log', growth_bytes_per_second: 9e7 },
        { used_percent: 91, free_bytes: 9e9, size_bytes: 1e11 },
      ),
      status({ ...down, running: true }),
    ],
    /none of the declared services/,
  ),
  'another file system': host('HostDiskFull', [growing({ path: log }, room)], /\/boot/, {
    labels: { mountpoint: '/boot' },
  }),
};
