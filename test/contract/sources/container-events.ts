import type { SourceFixtures } from './fixtures.ts';

const event = {
  target: 'shop',
  runtime: 'docker',
  container: 'shop-api',
  container_id: 'f00d'.repeat(16),
  image: 'shop/api:42',
  service: 'api',
  event: 'unhealthy',
  exit_code: null,
  at: '2026-03-01T11:59:30.123Z',
};

export const fixtures: SourceFixtures = {
  firing: event,
  alert: {
    name: 'ContainerUnhealthy',
    title: 'shop-api is unhealthy',
    severity: 'warning',
    target: 'shop',
    labels: {
      alertname: 'ContainerUnhealthy',
      target: 'shop',
      container: 'shop-api',
      container_runtime: 'docker',
      service: 'api',
    },
  },
  resolved: { ...event, event: 'healthy', at: '2026-03-01T12:00:30Z' },
  otherThing: { ...event, container: 'shop-web', container_id: 'beef'.repeat(16) },
  carrying: (text) => ({
    ...event,
    target: text,
    container: text,
    image: text,
    service: text,
    runtime: text,
  }),
  bad: [
    { payload: null, field: '', says: 'container event' },
    { payload: { ...event, event: 'sneezed' }, field: 'event', says: 'died' },
    { payload: { ...event, container: '' }, field: 'container', says: 'some text' },
    { payload: { ...event, exit_code: 'x' }, field: 'exit_code', says: 'whole number' },
    { payload: { ...event, at: 'yesterday' }, field: 'at', says: 'time' },
  ],
};
