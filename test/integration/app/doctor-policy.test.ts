import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { doctor } from '../../../src/app/doctor.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

test('the doctor names a rule whose approvers are nobody, which keeps no start back', async () => {
  const dir = scratchDir();
  const policy = join(dir, 'policy.yaml');
  writeFileSync(
    policy,
    'rules: [{name: days, tools: ["*"], approvers: [admins]}, {name: nights, approvers: [oncall]}]\n',
  );
  const scratch = await scratchDatabase({ migrate: true });
  try {
    const config = loadConfig({
      DATABASE_URL: scratch.url,
      SENTRY_DATA_DIR: dir,
      SENTRY_POLICY: policy,
      SENTRY_APPROVERS: 'U0123',
      SENTRY_ADMINS: 'U0123',
      SLACK_BOT_TOKEN: 'xoxb-1',
      SLACK_APP_TOKEN: 'xapp-1',
      // Nobody listens there.
      SLACK_API_URL: 'http://127.0.0.1:9/api/',
    });
    const found = await doctor(config, quiet);
    expect(found.find(({ part }) => part === 'Policy')).toMatchObject({ ok: true });
    expect(found.find(({ part }) => part === 'Approvers')).toMatchObject({
      ok: false,
      required: false,
      says: expect.stringMatching(/policy\.yaml: rule "nights": "oncall" means nobody: no group is on call$/),
    });
  } finally {
    await scratch.drop();
  }
});
