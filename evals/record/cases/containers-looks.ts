import { healthy, undecidable } from '../expected.ts';
import { ALWAYS, type ContainerCase, ends, MIB, works } from './containers-scene.ts';

const STATS = ['container_inspect', 'container_stats', 'container_top'] as const;
const died = 'container-died';

/** What is well, what only looks like a fault, and what cannot be told. */
export const containerLooks: readonly ContainerCase[] = [
  {
    id: 'containers-runs',
    title: 'The container that the alert calls down runs',
    runbook: died,
    on: 'docker',
    project: 'tailor',
    alert: ['ContainerDown', 'fitting-room is not running', 'fitting-room'],
    severity: 'critical',
    expected: healthy('fitting-room runs.'),
    async cause({ run, steady }) {
      await run('fitting-room', 'tailor/fitting-room:1.4', works('INFO suit 52 fits'));
      await steady('fitting-room');
    },
  },
  {
    id: 'containers-runs-podman',
    title: 'The same on Podman',
    runbook: died,
    on: 'podman',
    project: 'brewery',
    alert: ['ContainerDown', 'mash-tun is not running', 'mash-tun'],
    severity: 'critical',
    expected: healthy('mash-tun runs.'),
    async cause({ run, steady }) {
      await run('mash-tun', 'brewery/mash-tun:12', works('INFO mash at 64 degrees', 2));
      await steady('mash-tun');
    },
  },
  {
    id: 'containers-came-back',
    title: 'A container died once, came up by itself, and stays',
    runbook: died,
    on: 'docker',
    project: 'theatre',
    alert: ['ContainerRestarted', 'curtain restarted', 'curtain'],
    expected: healthy('curtain has come up by itself and stays.'),
    async cause({ run, steady, restarted }) {
      const first = 'if [ ! -e /was ]; then touch /was; echo "ERROR rope slipped"; exit 1; fi';
      await run('curtain', 'theatre/curtain:2', `${first}; ${works('INFO curtain is up')}`, {
        host: { RestartPolicy: { Name: 'on-failure' } },
      });
      await restarted('curtain', 1);
      await steady('curtain');
    },
  },
  {
    id: 'containers-job-is-done',
    title: 'A job has done its work',
    runbook: died,
    on: 'podman',
    project: 'census',
    alert: ['ContainerExited', 'household-import exited', 'household-import'],
    expected: undecidable('household-import ended by itself without an error: its work may be done.'),
    async cause({ run, ended }) {
      await run(
        'household-import',
        'census/import:2026',
        ends(0, 'INFO 8112 households', 'INFO done in 4 s'),
      );
      await ended('household-import');
    },
  },
  {
    id: 'containers-job-is-done-docker',
    title: 'A migration has done its work',
    runbook: died,
    on: 'docker',
    project: 'dentist',
    alert: ['ContainerNotRunning', 'schema-migration is not running', 'schema-migration'],
    expected: undecidable('schema-migration ended by itself without an error: its work may be done.'),
    async cause({ run, ended }) {
      await run(
        'schema-migration',
        'dentist/migrate:41',
        ends(0, 'INFO applied 0041_recall.sql', 'INFO nothing left to apply'),
      );
      await ended('schema-migration');
    },
  },
  {
    id: 'containers-stopped',
    title: 'Somebody stopped a container',
    runbook: died,
    on: 'docker',
    project: 'garage',
    alert: ['ContainerDown', 'tyre-stock is not running', 'tyre-stock'],
    severity: 'critical',
    expected: undecidable('Somebody had the engine stop tyre-stock; who and why is not known.'),
    async cause({ run, steady, engine, ended }) {
      await run('tyre-stock', 'garage/tyre-stock:5.1', works('INFO 12 tyres left'));
      await steady('tyre-stock');
      await engine.api.getContainer('tyre-stock').stop({ t: 2 });
      await ended('tyre-stock');
    },
  },
  {
    id: 'containers-stopped-podman',
    title: 'Somebody told a container of Podman to end (143)',
    runbook: died,
    on: 'podman',
    project: 'quarry',
    alert: ['ContainerDown', 'blast-plan is not running', 'blast-plan'],
    severity: 'critical',
    expected: undecidable('blast-plan was told to end; by whom is not known.'),
    async cause({ run, engine, ended }) {
      await run(
        'blast-plan',
        'quarry/blast-plan:3',
        'trap "exit 143" TERM; echo "INFO next blast at noon"; while true; do sleep 0.2; done',
      );
      await engine.api.getContainer('blast-plan').kill({ signal: 'SIGTERM' });
      await ended('blast-plan');
    },
  },
  {
    id: 'containers-killed-by-hand',
    title: 'Somebody killed a container with room below its limit: 137, and not for memory',
    runbook: died,
    on: 'docker',
    project: 'pottery',
    alert: ['ContainerOOMKilled', 'kiln was killed', 'kiln'],
    severity: 'critical',
    expected: undecidable('Somebody had the engine kill kiln.'),
    async cause({ run, steady, engine, ended }) {
      await run('kiln', 'pottery/kiln:900', works('INFO kiln at 900 degrees'), {
        host: { Memory: 64 * MIB, MemorySwap: 64 * MIB },
      });
      await steady('kiln');
      await engine.api.getContainer('kiln').kill();
      await ended('kiln');
    },
  },
  {
    id: 'containers-needs-stopped-cache',
    title: 'A container dies again and again without a cache that somebody stopped',
    runbook: died,
    on: 'docker',
    project: 'bikes',
    alert: ['ContainerCrashLooping', 'lock-service restarts again and again', 'lock-service'],
    severity: 'critical',
    expected: undecidable('lock-service needs key-cache, which somebody had the engine end.'),
    async cause({ run, engine, ended, restarted }) {
      await run('key-cache', 'bikes/key-cache:1', works('INFO 300 keys'));
      await engine.api.getContainer('key-cache').stop({ t: 2 });
      await ended('key-cache');
      await run(
        'lock-service',
        'bikes/lock-service:2',
        ends(1, 'Error: connect ECONNREFUSED key-cache:11211'),
        {
          host: ALWAYS,
        },
      );
      await restarted('lock-service', 3);
    },
  },
  {
    id: 'containers-dies-without-reason',
    title: 'A container dies again and again, and says nothing of why',
    runbook: died,
    on: 'podman',
    project: 'observatory',
    alert: ['ContainerCrashLooping', 'dome restarts again and again', 'dome'],
    expected: undecidable('dome dies again and again; its log names no reason.'),
    async cause({ run, restarted }) {
      await run('dome', 'observatory/dome:0.2', ends(4, 'INFO dome opens', 'INFO at 41 degrees'), {
        host: ALWAYS,
      });
      await restarted('dome', 3);
    },
  },
  {
    id: 'containers-another-engine',
    title: 'The alert is about a container that this engine does not have',
    runbook: died,
    on: 'podman',
    project: 'mill',
    alert: ['ContainerDown', 'flour-scale is not running', 'flour-scale'],
    severity: 'critical',
    looks: [],
    expected: undecidable('There is no container flour-scale on this engine.'),
    cause: async ({ run }) => run('flour-sieve', 'mill/flour-sieve:2', works('INFO sieves')),
  },
  {
    id: 'containers-another-dies',
    title: 'The alert is about one container, and another one has died',
    runbook: died,
    on: 'docker',
    project: 'circus',
    alert: ['ContainerDown', 'ticket-booth is not running', 'ticket-booth'],
    severity: 'critical',
    expected: healthy('ticket-booth runs; lion-cage has died, which the alert is not about.'),
    async cause({ run, ended, steady }) {
      await run('lion-cage', 'circus/lion-cage:1', ends(1, 'Error: gate is open'));
      await ended('lion-cage');
      await run('ticket-booth', 'circus/ticket-booth:1', works('INFO seat 14 sold'));
      await steady('ticket-booth');
    },
  },
  {
    id: 'containers-pull-interrupted-nothing',
    title: 'An image could not be pulled, and the old container still runs',
    runbook: 'image-missing',
    on: 'podman',
    project: 'ski',
    alert: ['ContainerImagePullFailed', 'lift-gate could not be deployed: no such image', 'lift-gate'],
    expected: healthy('lift-gate runs: the failed pull has interrupted nothing.'),
    async cause({ run, steady }) {
      await run('lift-gate', 'ski/lift-gate:4.5', works('INFO gate opens', 2));
      await steady('lift-gate');
    },
  },
  {
    id: 'containers-nothing-to-start',
    title: 'An image could not be pulled, and no container is left',
    runbook: 'image-missing',
    on: 'docker',
    project: 'spa',
    alert: ['ContainerImagePullFailed', 'sauna could not be deployed: no such image', 'sauna'],
    severity: 'critical',
    looks: [],
    expected: undecidable('There is no container sauna any more.'),
    async cause({ run, engine }) {
      await run('sauna', 'spa/sauna:80', works('INFO 80 degrees'));
      await engine.api.getContainer('sauna').remove({ force: true });
    },
  },
  {
    id: 'containers-disk-without-leftovers',
    title: 'The disk of an engine without images that nothing names',
    runbook: 'engine-disk',
    on: 'docker',
    project: 'foundry',
    alert: ['ContainerEngineDiskFull', 'The disk of the container engine is nearly full'],
    expected: undecidable('No image can go without a question.'),
    async cause({ run }) {
      await run(
        'mould',
        'foundry/mould:6',
        `dd if=/dev/zero of=/cast bs=1M count=9 2> /dev/null; ${works('INFO cast')}`,
      );
    },
  },
  {
    id: 'containers-reaches-who-runs',
    title: 'A container misses another one that runs on the same network',
    runbook: 'container-network',
    on: 'docker',
    project: 'aquarium',
    alert: ['ContainerUnreachable', 'fish-feeder cannot reach tank-probe', 'fish-feeder'],
    expected: undecidable('fish-feeder and tank-probe both run on the network of the host.'),
    async cause({ run, steady }) {
      await run('tank-probe', 'aquarium/tank-probe:3', works('INFO 24 degrees'));
      await run('fish-feeder', 'aquarium/fish-feeder:1', works('ERROR tank-probe: no route to host'));
      await steady('fish-feeder');
    },
  },
  {
    id: 'containers-engine-away',
    title: 'The engine does not answer',
    runbook: died,
    on: 'docker',
    project: 'airport',
    alert: ['ContainerDown', 'gate-screen is not running', 'gate-screen'],
    severity: 'critical',
    looks: [],
    expected: undecidable('The engine does not answer.'),
    async cause({ run, engine }) {
      await run('gate-screen', 'airport/gate-screen:9', works('INFO gate B12'));
      await engine.stop();
    },
  },
  ...(
    [
      [
        'certificate',
        'CertificateExpiringSoon',
        'The certificate of shop.example ends in 6 days',
        'tls-edge',
        'docker',
        'Certificates are not read.',
      ],
      [
        'slow',
        'HighRequestLatency',
        'p95 of /search is above 3 s',
        'site-search',
        'podman',
        'No runbook tells why a container that works is slow.',
      ],
      [
        'queue',
        'QueueDepthHigh',
        '40000 messages wait in queue invoices',
        'invoice-queue',
        'docker',
        'What waits in a queue is not read.',
      ],
      [
        'backup',
        'BackupTooOld',
        'The newest backup of the wiki is 3 days old',
        'wiki-backup',
        'podman',
        'No runbook covers backups.',
      ],
    ] as const
  ).map(
    ([id, alertname, summary, container, on, because], at): ContainerCase => ({
      id: `containers-uncovered-${id}`,
      title: summary,
      runbook: null,
      on,
      project: ['edge', 'site', 'billing', 'wiki'][at] ?? '',
      alert: [alertname, summary, container],
      looks: STATS,
      expected: undecidable(because),
      async cause({ run, steady }) {
        await run(container, `${container}:${at + 2}`, works(`INFO ${container} works`, 1 + at));
        await steady(container);
      },
    }),
  ),
];
