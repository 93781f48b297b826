import type { Json } from '../../../../src/core/tool-call.ts';
import type { Credential } from '../../../../src/safety/vault/credentials.ts';
import { never } from '../../actions/rig.ts';
import type { Row, Trial } from '../play.ts';
import { came } from '../scene.ts';

const mending = { tool: 'box_mend', target: 'box', input: { how: 'a' } };
/** The detective's credential, made into something that may mend. */
const forged = (tries: string, forge: (real: Credential) => Credential, more: Partial<Row> = {}): Row => ({
  tries,
  after: 'no credential of ours: refused, and nothing is proposed',
  trace: /gate.refused (CREDENTIAL_INVALID|ROLE_MAY_NOT)/,
  run: async ({ gate, mint }) =>
    came(await gate().call(forge(mint('detective')), mending, { signal: never })),
  ...more,
});
const asks = (
  tries: string,
  role: Parameters<Trial['ask']>[1],
  tool: string,
  input: Json,
  target: string | null,
  more: Partial<Row> = {},
): Row => ({
  tries,
  after: 'refused',
  trace: /gate.refused ROLE_MAY_NOT/,
  run: async ({ ask, gate }) => came(await ask(gate(), role, tool, input, target)),
  ...more,
});
const draft = { path: 'drafts/box', title: 'The box', content: 'It breaks on Mondays.' };

export const roles: readonly Row[] = [
  forged('a copy of a credential with another role', (real) => ({ ...real, role: 'surgeon' }), {
    station: '3 credential',
    trace: /gate.refused CREDENTIAL_INVALID/,
  }),
  forged(
    'an object that inherits from a credential',
    (real) => Object.create(real, { role: { value: 'surgeon' } }) as Credential,
    { station: '3 credential' },
  ),
  forged(
    'a proxy that lies about the role',
    (real) =>
      new Proxy(
        { ...real },
        {
          get: (on, key) => (key === 'role' ? 'surgeon' : Reflect.get(on, key)),
        },
      ),
  ),
  forged('a real credential, widened in place', (real) => {
    try {
      Object.assign(real, { role: 'surgeon' });
    } catch {
      // Frozen: the call that follows is made with it as it was.
    }
    return real;
  }),
  {
    tries: 'a credential that has expired',
    after: 'refused',
    station: '3 credential',
    trace: /gate.refused CREDENTIAL_EXPIRED/,
    async run({ anotherVault, deps, gate, incidentId }) {
      let now = 0;
      const vault = await anotherVault({ now: () => now });
      const credential = vault.mint({ role: 'surgeon', incidentId, targets: ['box'] });
      now = 15 * 60_000;
      return came(await gate({ ...deps, vault }).call(credential, mending, { signal: never }));
    },
  },
  {
    tries: 'a credential that was revoked',
    after: 'refused',
    station: '3 credential',
    trace: /gate.refused CREDENTIAL_INVALID/,
    async run({ rig, gate, mint }) {
      const credential = mint('surgeon');
      rig.core.vault.revoke(credential);
      return came(await gate().call(credential, mending, { signal: never }));
    },
  },
  {
    tries: 'a credential of another process',
    after: 'refused',
    station: '3 credential',
    trace: /gate.refused CREDENTIAL_INVALID/,
    async run({ anotherVault, gate, incidentId }) {
      const vault = await anotherVault();
      const credential = vault.mint({ role: 'surgeon', incidentId, targets: ['box'] });
      return came(await gate().call(credential, mending, { signal: never }));
    },
  },
  asks('its role named among the arguments', 'surgeon', 'box_mend', { how: 'a', role: 'admin' }, 'box', {
    station: '1 the input parses',
    trace: /gate.refused BAD_INPUT/,
  }),
  forged('a credential written down and read back', (real) => JSON.parse(JSON.stringify(real)) as Credential),
  asks('triage runs a diagnostic command', 'triage', 'run_diagnostics', { command: 'uptime' }, 'web-1', {
    station: '2 role',
  }),
  asks('the surgeon reads for itself', 'surgeon', 'box_state', {}, 'box', { station: '2 role' }),
  asks(
    'triage loads the tools that write',
    'triage',
    'load_toolset',
    {
      toolset: 'memory',
      include_write_tools: true,
    },
    null,
  ),
  asks(
    'the detective writes before it has loaded the tools for it',
    'detective',
    'memory_remember',
    draft,
    null,
    {
      station: '7 toolset',
      trace: /gate.refused TOOLSET_NOT_LOADED/,
    },
  ),
];
