import { describe, expect, test } from 'vitest';
import { isNamed } from '../../../src/actions/proposals/named.ts';
import type { Subject } from '../../../src/tools/define.ts';

const pid: Subject = { kind: 'pid', pid: 42 };
const table: Subject = { kind: 'table', schema: 'public', table: 'orders' };
const file: Subject = { kind: 'file', path: '/srv/app/conf/app.yaml' };
const service: Subject = { kind: 'name', name: 'shop-worker' };
const setting: Subject = { kind: 'name', name: 'work_mem' };

describe('a diagnosis names', () => {
  test.each<readonly [Subject, string]>([
    [pid, 'Session 42 (shop-backoffice) holds the lock.'],
    [pid, 'pid 42 blocks four others'],
    [pid, 'The root blocker is pid=42.'],
    [pid, 'root: pid 42 (shop_app@shop, shop-backoffice) blocks 4 (4 directly)'],
    [pid, 'something is wrong with {"pid":42,"backend_start":"2026-11-21T10:00:00Z"}'],
    [pid, 'Backend PID: 42, idle in transaction'],
    [pid, 'Both are blocked by 42.'],
    [pid, 'the pids 17, 41 and 42 are idle'],
    [pid, 'Sessions 41 and 42 wait for each other'],
    [pid, 'shop-backoffice (42) left its transaction open'],
    [pid, '42 (shop-backoffice) left its transaction open'],
    [pid, 'the process `42` writes the log'],
    [table, 'Autovacuum is off for orders.'],
    [table, 'Half of public.orders is dead rows'],
    [table, 'bloat of "public"."orders"'],
    [table, 'shop.public.orders has 4 M dead rows'],
    [table, 'bloat of `orders`, which nobody vacuums'],
    [file, '/srv/app/conf/app.yaml names a host that is not there'],
    [file, 'A typo in app.yaml:12.'],
    [file, 'conf/app.yaml differs from its backup'],
    [service, 'shop-worker is not running.'],
    [service, 'the unit shop-worker.service has failed'],
    [setting, 'work_mem=64MB is too much for 200 connections'],
  ])('%j: %s', (subject, text) => {
    expect(isNamed(text, subject)).toBe(true);
  });
});

describe('a diagnosis does not name', () => {
  test.each<readonly [Subject, string]>([
    [pid, 'the oldest has waited for 42 s'],
    [pid, 'session 17 has waited for 42 s'],
    [pid, 'sessions: 42 s each'],
    [pid, '42 sessions wait'],
    [pid, 'blocked by 42 sessions'],
    [pid, 'pid 4242 holds the lock'],
    [pid, 'pid 17 holds 42 locks'],
    [pid, 'used 42 % of connections, 42 of 100'],
    [pid, 'pid 17 since 2026-11-21 10:42:42'],
    [pid, 'error 42 at address 10.0.0.42'],
    [pid, 'relation 42 grew by 42'],
    [table, 'the bloat of orders_archive'],
    [table, 'the bloat of archive.orders'],
    [table, 'the index orders-by-day'],
    [table, 'the column orders.status is not indexed'],
    [file, '/srv/app/conf is full'],
    [file, '/srv/app/conf/app.yaml.bak is newer'],
    [file, '/etc/app.yaml is wrong'],
    [file, 'my-app.yaml is wrong'],
    [service, 'shop-worker-2 is down'],
    [service, '/var/log/shop-worker/out.log grows'],
    [service, 'worker is down'],
    [setting, 'maintenance_work_mem is too small'],
    [setting, 'hash_mem_multiplier times work_mem_limit'],
  ])('%j: %s', (subject, text) => {
    expect(isNamed(text, subject)).toBe(false);
  });
});
