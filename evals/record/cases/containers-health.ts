import { found, healthy, undecidable } from '../expected.ts';
import { type ContainerCase, checkedBy, ends, works } from './containers-scene.ts';

/** Containers that run, and whose health check fails or seems to. */
export const containerHealth: readonly ContainerCase[] = [
  {
    id: 'containers-hangs',
    title: 'A service runs and does not answer its health check',
    runbook: 'container-unhealthy',
    on: 'docker',
    project: 'cinema',
    alert: ['ContainerUnhealthy', 'seat-map fails its health check', 'seat-map'],
    expected: found('seat-map runs and does not answer its health check.', [
      ['seat-map'],
      ['health check', 'does not answer'],
    ]),
    async cause({ run, steady, health, engine }) {
      await run(
        'seat-map',
        'cinema/seat-map:3.4',
        `touch /well; ${works('INFO seat held')}`,
        checkedBy('test -e /well || { echo "GET /seats: no answer within 2 s"; exit 1; }'),
      );
      await steady('seat-map');
      await health('seat-map', 'healthy');
      const exec = await engine.api
        .getContainer('seat-map')
        .exec({ Cmd: ['rm', '/well'], AttachStdout: true });
      (await exec.start({})).resume();
      await health('seat-map', 'unhealthy');
    },
  },
  {
    id: 'containers-check-cannot-run',
    title: 'The health check itself cannot run',
    runbook: 'container-unhealthy',
    on: 'docker',
    project: 'florist',
    alert: ['ContainerHealthCheckFailing', 'bouquets is unhealthy', 'bouquets'],
    expected: found('The health check of bouquets cannot run: curl is not in its image.', [
      ['bouquets'],
      ['cannot run', 'not found'],
    ]),
    async cause({ run, health, steady }) {
      await run(
        'bouquets',
        'florist/bouquets:1.1',
        works('INFO bouquet bound'),
        checkedBy('curl -fsS http://localhost:8080/health'),
      );
      await health('bouquets', 'unhealthy');
      await steady('bouquets');
    },
  },
  {
    id: 'containers-check-names-dead',
    title: 'A service is unhealthy because what it needs has died',
    runbook: 'container-unhealthy',
    on: 'docker',
    project: 'ferry',
    alert: ['ContainerUnhealthy', 'bookings fails its health check', 'bookings'],
    severity: 'critical',
    expected: found('bookings is unhealthy because tide-db is not running.', [
      ['bookings'],
      ['tide-db'],
      ['not running'],
    ]),
    async cause({ run, ended, health, steady }) {
      await run('tide-db', 'ferry/tide-db:11', ends(1, 'PANIC: could not locate a valid checkpoint record'));
      await ended('tide-db');
      await run(
        'bookings',
        'ferry/bookings:3',
        works('WARN no timetable'),
        checkedBy('echo "timetable: tide-db:5432 does not answer"; exit 1'),
      );
      await health('bookings', 'unhealthy');
      await steady('bookings');
    },
  },
  {
    id: 'containers-check-has-not-decided',
    title: 'A health check that has not decided yet',
    runbook: 'container-unhealthy',
    on: 'docker',
    project: 'opera',
    alert: ['ContainerUnhealthy', 'prompter fails its health check', 'prompter'],
    expected: undecidable('prompter has just started, and its check has not decided.'),
    async cause({ run }) {
      await run('prompter', 'opera/prompter:1', works('INFO reads act one'), {
        Healthcheck: { Test: ['CMD-SHELL', 'true'], Interval: 300e9, Timeout: 5e9, Retries: 2 },
      });
    },
  },
  {
    id: 'containers-passes-check',
    title: 'A container passes its health check',
    runbook: 'container-unhealthy',
    on: 'docker',
    project: 'bank',
    alert: ['ContainerUnhealthy', 'coin-counter fails its health check', 'coin-counter'],
    expected: healthy('coin-counter passes its health check.'),
    async cause({ run, health }) {
      await run(
        'coin-counter',
        'bank/coin-counter:3.3',
        works('INFO 40 coins'),
        checkedBy('echo "GET /health 200"'),
      );
      await health('coin-counter', 'healthy');
    },
  },
  {
    id: 'containers-declares-no-check',
    title: 'A container without a health check',
    runbook: 'container-unhealthy',
    on: 'podman',
    project: 'hostel',
    alert: ['ContainerUnhealthy', 'bed-plan is unhealthy', 'bed-plan'],
    expected: undecidable('bed-plan declares no health check.'),
    async cause({ run, steady }) {
      await run('bed-plan', 'hostel/bed-plan:22', works('INFO 3 beds free'));
      await steady('bed-plan');
    },
  },
];
