import { parseArgs } from 'node:util';
import { defined } from '../../src/core/defined.ts';
import { messageOf, OpsError } from '../../src/core/errors.ts';
import { createLocalSlack, type LocalSlack } from './local-slack.ts';
import { ON_CALL_GROUP, SENTRY_APP, USERS, WEBHOOKS } from './seed.ts';

const HELP = `The local Slack workspace, as a process of its own.

  --data DIR         keep the workspace here (it survives kill -9); without it, nothing is kept
  --port N           listen on this port; 0 or nothing: any free one
  --host ADDRESS     address to bind (127.0.0.1)
  --allow-host NAME  also answer to this host name (may be repeated)
  --faults-url URL   server behind the panel "Cause an incident"
  --events-url URL   deliver events signed over HTTP to this URL instead of Socket Mode
  --parent-pid PID   end when this process is gone

Prints one JSON line when it listens: {"ready":true,"url":"http://127.0.0.1:…","apiUrl":"…", …} with the fake tokens and
the ids that the bot is to be configured with.
`;
const PARENT_CHECK_MS = 1000;

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    port: { type: 'string' },
    host: { type: 'string' },
    'allow-host': { type: 'string', multiple: true },
    'faults-url': { type: 'string' },
    'events-url': { type: 'string' },
    'parent-pid': { type: 'string' },
    help: { type: 'boolean' },
  },
});

if (values.help === true) process.stdout.write(HELP);
else {
  try {
    await serve();
  } catch (error) {
    const hint = error instanceof OpsError ? ` ${error.hint}` : '';
    process.stderr.write(`local Slack: ${messageOf(error)}.${hint}\n`);
    process.exit(1);
  }
}

async function serve(): Promise<void> {
  const slack = await createLocalSlack({
    port: wholeNumber('port', values.port) ?? 0,
    ...defined({
      dataDir: values.data,
      host: values.host,
      allowedHosts: values['allow-host'],
      faultsUrl: values['faults-url'],
      eventsUrl: values['events-url'],
    }),
  });
  endWith(slack, wholeNumber('parent-pid', values['parent-pid']));
  const ready = {
    ready: true,
    url: slack.url,
    apiUrl: slack.apiUrl,
    botToken: SENTRY_APP.botToken,
    appToken: SENTRY_APP.appToken,
    signingSecret: SENTRY_APP.signingSecret,
    approvers: [USERS.onCall, USERS.onCall2, USERS.admin],
    admins: [USERS.admin],
    onCallGroup: ON_CALL_GROUP,
    alertWebhookUrl: `${slack.url}${Object.keys(WEBHOOKS)[0] ?? ''}`,
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

function endWith(slack: LocalSlack, parentPid: number | undefined): void {
  let ending = false;
  const end = () => {
    if (ending) return;
    ending = true;
    void slack.close().then(() => process.exit(0));
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  if (parentPid === undefined) return;
  setInterval(() => {
    if (!isAlive(parentPid)) end();
  }, PARENT_CHECK_MS).unref();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function wholeNumber(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  process.stderr.write(`--${name} must be a whole number, not "${value}"\n`);
  process.exit(2);
}
