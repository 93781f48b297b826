import { parseArgs } from 'node:util';
import { blockedSessions } from './blocked-sessions.ts';
import { createScriptedClaude } from './scripted-claude.ts';

/**
 * The scripted Messages API as a process: `tsx playground/claude/main.ts [--port N] [--overloaded N]`, then start the bot
 * with ANTHROPIC_BASE_URL set to the printed URL and any ANTHROPIC_API_KEY. `--overloaded N` answers 529 to the first
 * N requests. Control: `POST /control/fail {kind:…}`, `POST /control/release`, `GET /control/requests`.
 */
const { values } = parseArgs({ options: { port: { type: 'string' }, overloaded: { type: 'string' } } });

const claude = await createScriptedClaude({
  scenario: blockedSessions,
  ...(values.port === undefined ? {} : { port: Number(values.port) }),
});
for (let n = 0; n < Number(values.overloaded ?? 0); n++) claude.failNext({ kind: 'http', status: 529 });
process.stdout.write(`ANTHROPIC_BASE_URL=${claude.url}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    claude.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        process.exit(1);
      },
    );
  });
}
