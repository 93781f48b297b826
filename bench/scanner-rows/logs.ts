import type { Draw } from './draw.ts';
import type { Shape } from './rows.ts';

const two = (n: number): string => String(n).padStart(2, '0');
const messages = [
  'connection reset by peer',
  'GET /api/v1/orders 200 12ms',
  'retrying in 5s',
  'checkpoint complete: wrote 412 buffers',
  'health check passed',
  'slow query: 1203 ms',
];

interface Moment {
  readonly clock: string;
  readonly ms: string;
  readonly epoch: number;
  readonly draw: Draw;
}

/** One line of each notation of time that operations meet, by the program that writes it. */
const notations: Readonly<Record<string, (at: Moment, message: string) => string>> = {
  iso: ({ clock, ms }, message) => `2026-03-01T${clock}.${ms}Z INFO ${message}`,
  offset: ({ clock }, message) => `2026-03-01T${clock}+01:00 host app[77]: ${message}`,
  log4j: ({ clock, ms }, message) => `2026-03-01 ${clock},${ms} ERROR [main] c.s.Order - ${message}`,
  elasticsearch: ({ clock, ms }, message) =>
    `[2026-03-01T${clock},${ms}][WARN ][o.e.m.j.Gc] [es-1] ${message}`,
  kafka: ({ clock, ms }, message) => `[2026-03-01 ${clock},${ms}] INFO [Broker id=1] ${message}`,
  postgres: ({ clock, ms }, message) => `2026-03-01 ${clock}.${ms} UTC [77] LOG:  ${message}`,
  mysql: ({ clock, ms }, message) => `2026-03-01T${clock}.${ms}123Z 7 [Note] [MY-010116] ${message}`,
  nginxError: ({ clock }, message) => `2026/03/01 ${clock} [error] 31#31: *7 ${message}`,
  go: ({ clock }, message) => `2026/03/01 ${clock} ${message}`,
  goMicros: ({ clock, ms }, message) => `2026/03/01 ${clock}.${ms}000 main.go:12: ${message}`,
  access: ({ clock }, message) => `10.0.0.7 - - [01/Mar/2026:${clock} +0000] "${message}" 200 512`,
  haproxy: ({ clock, ms }, message) =>
    `haproxy[7]: 10.0.0.7:4242 [01/Mar/2026:${clock}.${ms}] web ${message}`,
  syslog: ({ clock }, message) => `Mar  1 ${clock} db-3 kernel: ${message}`,
  journald: ({ clock }, message) => `Mar 01 ${clock} node-2 kubelet[812]: ${message}`,
  rfc5424: ({ clock, ms }, message) => `<34>1 2026-03-01T${clock}.${ms}Z web-1 app 77 ID47 - ${message}`,
  klog: ({ clock, ms }, message) => `I0301 ${clock}.${ms}456       1 controller.go:114] ${message}`,
  redis: ({ clock, ms }, message) => `77:M 01 Mar 2026 ${clock}.${ms} * ${message}`,
  apacheError: ({ clock, ms }, message) =>
    `[Sun Mar 01 ${clock}.${ms}123 2026] [core:error] [pid 7] ${message}`,
  dmesgClock: ({ clock }, message) => `[Sun Mar  1 ${clock} 2026] ${message}`,
  dmesg: ({ epoch, ms }, message) => `[${epoch % 100_000}.${ms}421] ${message}`,
  rails: ({ clock, ms }, message) => `I, [2026-03-01T${clock}.${ms}123 #77]  INFO -- : ${message}`,
  logfmt: ({ clock }, message) => `time="2026-03-01T${clock}Z" level=warning msg="${message}"`,
  logfmtTs: ({ clock, ms }, message) =>
    `ts=2026-03-01T${clock}.${ms}Z caller=head.go:612 level=info msg="${message}"`,
  jsonTime: ({ clock, ms }, message) =>
    `{"level":"info","time":"2026-03-01T${clock}.${ms}Z","msg":"${message}"}`,
  jsonEpoch: ({ epoch, ms }, message) => `{"level":30,"time":${epoch}${ms},"pid":7,"msg":"${message}"}`,
  jsonLate: ({ clock, ms, draw }, message) =>
    `{"severity":"INFO","logger":"${draw.run('lower', 30)}","message":"${message}","timestamp":"2026-03-01T${clock}.${ms}Z"}`,
  zap: ({ epoch, ms }, message) =>
    `{"level":"info","ts":${epoch}.${ms},"caller":"main.go:7","msg":"${message}"}`,
  mongo: ({ clock, ms }, message) =>
    `{"t":{"$date":"2026-03-01T${clock}.${ms}+00:00"},"s":"I","msg":"${message}"}`,
  epoch: ({ epoch, ms }, message) => `${epoch}.${ms} ${message}`,
  compose: ({ clock, ms }, message) => `web-1  | 2026-03-01 ${clock},${ms} INFO ${message}`,
  kubectl: ({ clock, draw }, message) =>
    `[pod/web-${draw.run('lowerDigits', 5)}/web] 2026-03-01T${clock}.123456789Z ${message}`,
  american: ({ clock }, message) => `03/01/2026 ${clock} PM | ${message}`,
  germanDots: ({ clock }, message) => `01.03.2026 ${clock} ${message}`,
  clockOnly: ({ clock, ms }, message) => `${clock}.${ms} [http-7] DEBUG ${message}`,
  coloured: ({ clock }, message) =>
    `\u001b[90m2026-03-01T${clock}Z\u001b[0m \u001b[32mINF\u001b[0m ${message}`,
  cri: ({ clock }, message) => `2026-03-01T${clock}.123456789+00:00 stdout F ${message}`,
  windows: ({ clock }, message) =>
    `Information  3/1/2026 ${clock} AM  Service Control Manager  7036  ${message}`,
};

/** More than thirty stamped lines, here and there with a line between them that has no time of its own. */
function logOf(draw: Draw, line: (at: Moment, message: string) => string): string {
  const count = 31 + draw.number(40);
  const start = draw.number(80_000);
  const lines = Array.from({ length: count }, (_, n) => {
    const second = start + n * 3;
    const clock = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60].map(two).join(':');
    const at = { clock, ms: String(100 + draw.number(900)), epoch: 1_772_323_200 + second, draw };
    const stamped = line(at, draw.pick(messages));
    return draw.number(6) === 0 ? `${stamped}\n    at com.shop.Order.place(Order.java:42)` : stamped;
  });
  return draw.pick(['', 'what it said:\n```\n', 'see below\n\n']) + lines.join('\n');
}

/** The volume itself is what must not be kept: it has no secret of its own. */
export const logShapes: readonly Shape[] = Object.values(notations).map((line) => (draw) => ({
  text: logOf(draw, line),
  secrets: [],
}));
