import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { never, openIncident } from '../../actions/rig.ts';
import type { Row } from '../play.ts';
import { came } from '../scene.ts';

const spelled = (tries: string, target: string): Row => ({
  tries,
  after: 'no such target',
  trace: /gate.refused UNKNOWN_TARGET/,
  run: async ({ ask, gate }) => came(await ask(gate(), 'surgeon', 'box_mend', { how: 'a' }, target)),
});
const file = (tries: string, path: string, trace: RegExp): Row => ({
  tries,
  after: 'refused; nothing of it is read',
  trace,
  run: async ({ ask, gate }) => came(await ask(gate(), 'detective', 'read_file', { path }, 'web-1')),
});

const elsewhere = (tries: string, command: string): Row => ({
  tries: `run_diagnostics: ${tries}`,
  after: 'refused, nothing is started',
  trace: /gate.refused/,
  run: async ({ ask, gate }) => came(await ask(gate(), 'detective', 'run_diagnostics', { command }, 'web-1')),
});

export const outOfReach: readonly Row[] = [
  {
    tries: 'a target that is not of this incident',
    after: 'refused, nothing read',
    station: '5 target in scope',
    trace: /gate.refused TARGET_OUT_OF_SCOPE/,
    run: async ({ ask, gate }) => came(await ask(gate(), 'detective', 'box_state', {}, 'other')),
  },
  spelled('the target in capitals', 'BOX'),
  spelled('the target in letters that look alike', 'bo\u0445'),
  spelled('a name every object has', '__proto__'),
  spelled('the target and a blank', 'box '),
  {
    tries: 'a tool of one system on a target of another',
    after: 'refused',
    trace: /gate.refused WRONG_DOMAIN/,
    run: async ({ gate, mint }) =>
      came(
        await gate().call(
          mint('surgeon', ['pod']),
          { tool: 'box_mend', target: 'pod', input: { how: 'a' } },
          { signal: never },
        ),
      ),
  },
  {
    tries: 'a credential copied for another incident',
    after: 'refused; that incident has no trace of it',
    station: '3 credential',
    trace: /gate.refused CREDENTIAL_INVALID/,
    async run({ gate, mint, rig }) {
      const forged = { ...mint('detective'), incidentId: await openIncident(rig) };
      const request = { tool: 'box_state', target: 'box', input: {} };
      return came(await gate().call(forged, request, { signal: never }));
    },
  },
  {
    tries: 'an output of another incident by its number',
    after: 'there is none of this number here',
    trace: /gate.refused UNKNOWN_EVIDENCE/,
    async run({ gate, ask, rig }) {
      const theirs = rig.core.vault.mint({
        role: 'detective',
        incidentId: await openIncident(rig),
        targets: ['box'],
      });
      const request = { tool: 'box_state', target: 'box', input: {} };
      const { toolCallId } = await gate().call(theirs, request, { signal: never });
      return came(await ask(gate(), 'detective', 'evidence_read', { id: toolCallId }, null));
    },
  },
  file('a file above the root', '../restart.sh', /gate.refused PATH_TRAVERSAL/),
  {
    tries: 'a copy of a credential with one target more',
    after: 'refused, nothing read',
    station: '3 credential',
    trace: /gate.refused CREDENTIAL_INVALID/,
    async run({ gate, mint }) {
      const widened = { ...mint('detective'), targets: ['box', 'other'] };
      const request = { tool: 'box_state', target: 'other', input: {} };
      return came(await gate().call(widened, request, { signal: never }));
    },
  },
  elsewhere('systemd of another machine', 'systemctl -H root@other status worker'),
  elsewhere('another network namespace', 'ss -N other -tn'),
  elsewhere('a log above its folder', 'tail -n 5 /var/log/../../etc/shadow'),
  elsewhere('a program by its place', '/tmp/uptime'),
  file('a file above the root, encoded', '%2e%2e/restart.sh', /gate.refused PATH_ENCODED/),
  file('a secret file inside the root', '.env', /gate.refused PATH_SECRET/),
  file('what the process itself has open', '/proc/self/environ', /gate.refused PATH_OUTSIDE/),
  {
    tries: 'a link that leads out of the root',
    after: 'refused; nothing of it is read',
    trace: /gate.refused PATH_/,
    async run({ ask, gate, host, incidentId }) {
      symlinkSync('/etc/hostname', join(host.dir, 'app', `${incidentId}.conf`));
      return came(await ask(gate(), 'detective', 'read_file', { path: `${incidentId}.conf` }, 'web-1'));
    },
  },
  {
    tries: 'a patch of a file above the root',
    after: 'not even proposed',
    trace: /gate.refused (PATH|DIFF)_/,
    run: async ({ ask, gate }) =>
      came(
        await ask(
          gate(),
          'surgeon',
          'apply_patch',
          {
            file_path: '../restart.sh',
            diff: '--- a/../restart.sh\n+++ b/../restart.sh\n@@ -1,1 +1,1 @@\n-#!/bin/sh\n+#!/bin/bash\n',
          },
          'web-1',
        ),
      ),
  },
];
