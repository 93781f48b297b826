/** One way in which a process ends. It is really run, with both outputs in its log, and what is left is looked at. */
export interface WayToDie {
  readonly name: string;
  /** For /bin/sh, in a folder of its own; `$NODE` is node, `$PORT` a port that is taken. */
  readonly script: string;
  /** What a cause may say; null: none may be named, whatever it is. */
  readonly cause: RegExp | null;
  /** What has to be told in any case. */
  readonly tells?: RegExp;
  /** Whether a start may be proposed; else it may not. */
  readonly start?: true;
}

const WORK = 'echo "2026-11-22T10:00:00Z INFO request served"; '.repeat(3);
const STARTS = 'echo "2026-11-22T10:00:00Z INFO gateway starts"; ';
const node = (code: string, flags = ''): string => `exec "$NODE" ${flags} -e '${code}'`;
const says = (...lines: readonly string[]): string => lines.map((line) => `echo '${line}'`).join('; ');
/** A child that ends by a signal, and the shell that says so. */
const signalled = (signal: string): string => `ulimit -c 0; sh -c 'kill -${signal} $$; sleep 9'`;

const way = (name: string, script: string, cause: RegExp | null, more: Partial<WayToDie> = {}): WayToDie => ({
  name,
  script: `${STARTS}${WORK}${script}`,
  cause,
  ...more,
});
const atStart = (
  name: string,
  script: string,
  cause: RegExp | null,
  more: Partial<WayToDie> = {},
): WayToDie => ({
  ...way(name, script, cause, more),
  script: `${STARTS}${script}`,
});

export const WAYS_TO_DIE: readonly WayToDie[] = [
  // What it was given.
  atStart(
    'a variable that is not set, to node',
    node(
      'const { DATABASE_URL } = process.env; if (!DATABASE_URL) throw new Error("Environment variable DATABASE_URL is not set");',
    ),
    /setting or variable.*DATABASE_URL/,
  ),
  atStart(
    'a variable that is not set, to sh',
    'echo ${DATABASE_URL:?must be set}',
    /setting or variable.*DATABASE_URL/,
  ),
  atStart('an unbound variable', 'set -u; echo $QUEUE_HOST', /setting or variable.*QUEUE_HOST/),
  atStart('an option node does not know', 'exec "$NODE" --frobnicate', /option or setting.*--frobnicate/),
  atStart(
    'an option its parser does not know',
    node('require("node:util").parseArgs({ args: ["--colour"], options: {} })'),
    /option or setting.*--colour/,
  ),
  atStart('an option sh does not know', 'sh -Z', /option or setting.*-Z/),
  atStart(
    'a key its configuration may not have',
    says('FATAL gateway.conf line 3: unknown directive "worker"'),
    /option or setting.*worker/,
  ),
  atStart(
    'a configuration that is no JSON',
    `echo "{ workers: 4" > app/gateway.json; ${node('JSON.parse(require("node:fs").readFileSync("app/gateway.json", "utf8"))')}`,
    /does not accept its configuration.*JSON/,
  ),
  atStart(
    'a value that is no number',
    says('FATAL gateway.conf: workers is not a number'),
    /does not accept its configuration.*workers/,
  ),
  atStart(
    'a value out of range',
    says('error: invalid value for max_connections: 999999999'),
    /configuration|option or setting/,
  ),
  atStart('a URL that is none', node('new URL("not a url")'), /configuration.*Invalid URL/),
  atStart(
    'a regular expression that is none',
    node('new RegExp("(")'),
    /configuration.*Invalid regular expression/,
  ),
  // What it needs on this machine.
  atStart(
    'a file that is not there',
    node('require("node:fs").readFileSync("app/tokens.db")'),
    /file or folder.*tokens\.db/,
  ),
  atStart(
    'a path that is no folder',
    `echo > app/plain; ${node('require("node:fs").readFileSync("app/plain/x")')}`,
    /path it uses.*ENOTDIR/,
  ),
  atStart(
    'a folder in place of a file',
    node('require("node:fs").readFileSync("app")'),
    /path it uses.*EISDIR/,
  ),
  atStart(
    'a file it may not read',
    node(
      'if (process.getuid() === 0) process.setuid(65534); require("node:fs").readFileSync("/proc/1/environ")',
    ),
    /may not use.*EACCES/,
  ),
  atStart(
    'a lock that was left behind',
    `echo > app/lock; ${node('require("node:fs").openSync("app/lock", "wx")')}`,
    /path it uses.*EEXIST/,
  ),
  atStart(
    'another instance',
    says('gateway: another instance is already running (pid 17)'),
    /another one of it.*pid 17/,
  ),
  atStart(
    'a database that is locked',
    says('sqlite3.OperationalError: database is locked'),
    /another one of it.*locked/,
  ),
  atStart(
    'a disk without room',
    node('require("node:fs").writeFileSync("/dev/full", "x")'),
    /no room left.*ENOSPC/,
  ),
  atStart('a disk quota', says('ERROR write failed: Disk quota exceeded'), /no room left.*quota/),
  atStart(
    'a file of the largest size',
    'ulimit -f 1; sh -c "head -c 9000000 /dev/zero > app/big"',
    /largest size/,
  ),
  atStart(
    'a file system that is read-only',
    says('mkdir: cannot create directory: Read-only file system'),
    /read-only/,
  ),
  atStart(
    'a disk that fails',
    says('FATAL cannot read segment 7: Input/output error'),
    /disk or a device.*segment 7/,
  ),
  way(
    'no more file descriptors',
    `ulimit -n 24; ${node('const fs = require("node:fs"); for (;;) fs.openSync("/dev/null")')}`,
    /file descriptors.*EMFILE/,
    { start: true },
  ),
  way(
    'no more heap',
    node('const a = []; for (;;) a.push(new Array(1e5).fill(1.5));', '--max-old-space-size=12'),
    /no more memory/,
    { start: true },
  ),
  way(
    'memory that Python does not get',
    says('Traceback (most recent call last):', '  File "/srv/gw.py", line 4, in <module>', 'MemoryError'),
    /no more memory/,
    { start: true },
  ),
  way(
    'the kernel out of memory',
    says('[ 9.1] Out of memory: Killed process 412 (gateway) total-vm:9999kB', 'Killed'),
    /no more memory/,
    { start: true },
  ),
  way(
    'no more threads',
    says('java.lang.OutOfMemoryError: unable to create native thread'),
    /memory|threads/,
    { start: true },
  ),
  // What it is made of.
  atStart(
    'a module that is not installed',
    node('require("left-pad-of-old")'),
    /module it needs.*left-pad-of-old/,
  ),
  atStart(
    'a package that is not installed',
    `echo 'import x from "no-such-package"' > app/a.mjs; exec "$NODE" app/a.mjs`,
    /module it needs.*no-such-package/,
  ),
  atStart(
    'a Python module that is not installed',
    says(
      'Traceback (most recent call last):',
      '  File "gw.py", line 1, in <module>',
      'ModuleNotFoundError: No module named "flask"',
    ),
    /module it needs.*flask/,
  ),
  atStart(
    'a class that is not there',
    says('Error: Could not find or load main class com.example.Gateway'),
    /module it needs.*Gateway/,
  ),
  atStart(
    'a shared library that is not there',
    says(
      'gateway: error while loading shared libraries: libpq.so.5: cannot open shared object file: No such file or directory',
    ),
    /shared library.*libpq/,
  ),
  atStart(
    'a C library that is too old',
    says('gateway: /lib/libc.so.6: version `GLIBC_2.38" not found (required by gateway)'),
    /shared library.*GLIBC/,
  ),
  atStart(
    'a program that is not installed',
    'gateway-that-is-not-here --serve',
    /program it calls.*gateway-that-is-not-here/,
  ),
  atStart(
    'a runtime that is too old',
    says('gateway requires version 22 of the runtime, found 20: unsupported engine'),
    /another version/,
  ),
  // Whom it talks to.
  atStart(
    'a port that is taken',
    node('require("node:net").createServer().listen(+process.env.PORT, "127.0.0.1")'),
    /in use.*EADDRINUSE/,
  ),
  atStart(
    'an address of another machine',
    node('require("node:net").createServer().listen(0, "192.0.2.7")'),
    /not one of this machine.*EADDRNOTAVAIL/,
  ),
  way(
    'a database that refuses',
    node('require("node:net").connect(1, "127.0.0.1")'),
    /does not answer.*ECONNREFUSED/,
  ),
  way(
    'a peer that hangs up',
    says(
      'Error: read ECONNRESET',
      '    at TCP.onStreamRead (node:internal/stream_base_commons:216:20) {',
      '  errno: -104,',
      '}',
    ),
    /does not answer.*ECONNRESET/,
  ),
  atStart(
    'a name that is unknown',
    says('Error: getaddrinfo ENOTFOUND db.internal'),
    /does not answer.*db\.internal/,
  ),
  way(
    'a database that does not answer in time',
    says('FATAL timeout while connecting to db:5432'),
    /does not answer.*5432/,
  ),
  way(
    'a database that is full',
    says('FATAL: sorry, too many clients already'),
    /does not answer.*too many clients/,
  ),
  atStart(
    'a password that is wrong',
    says('FATAL: password authentication failed for user "gateway"'),
    /name or password.*gateway/,
  ),
  atStart(
    'a certificate that has expired',
    says(
      'Error: certificate has expired',
      '    at TLSSocket.onConnectSecure (node:_tls_wrap:1677:34)',
      '  code: CERT_HAS_EXPIRED',
    ),
    /certificate.*expired/,
  ),
  atStart(
    'a certificate of its own making',
    says('x509: certificate signed by unknown authority'),
    /certificate.*unknown authority/,
  ),
  atStart(
    'a table that is missing',
    says('ERROR: relation "orders" does not exist'),
    /another version.*orders/,
  ),
  atStart(
    'a migration that is pending',
    says('FATAL 3 migrations are pending, refusing to start'),
    /another version.*pending/,
  ),
  // What it may do, and its data.
  atStart(
    'a licence that has ended',
    says('gateway: licence expired on 2026-11-01, exiting'),
    /licence.*2026-11-01/,
  ),
  atStart(
    'a licence without a seat',
    says('ERROR no seats left on this license: limit exceeded'),
    /licence is not valid/,
  ),
  atStart('a trial that is over', says('Your trial period has expired.'), /licence.*trial/),
  atStart(
    'an archive cut short',
    node('const z = require("node:zlib"); z.gunzipSync(z.gzipSync("x".repeat(999)).subarray(0, 20))'),
    /damaged.*unexpected end of file/,
  ),
  atStart(
    'a page whose checksum is wrong',
    says('PANIC: checksum mismatch in page 7 of segment 3'),
    /damaged.*page 7/,
  ),
  atStart(
    'a key of the wrong length',
    node('require("node:crypto").createCipheriv("aes-256-gcm", "short", "x")'),
    /key.*Invalid key length/,
  ),
  // How it breaks.
  way('a segmentation fault', signalled('SEGV'), /segmentation fault/i, { start: true }),
  way('an abort', `ulimit -c 0; "$NODE" -e 'process.abort()'`, /ended itself \(abort\)/, { start: true }),
  way('a bus error', signalled('BUS'), /bus error/i, { start: true }),
  way('an instruction the processor lacks', signalled('ILL'), /this processor/),
  way('a division by zero, by signal', signalled('FPE'), /divided by zero/, { start: true }),
  way('a division by zero, by a runtime', node('1n / 0n'), /divided by zero/, { start: true }),
  way('a forbidden call', signalled('SYS'), /system forbids/),
  way('its time on the processor', signalled('XCPU'), /used up the time/, { start: true }),
  way('a kill from outside that the shell saw', signalled('KILL'), /killed from outside/, { start: true }),
  way('an assertion', node('require("node:assert").strictEqual(1, 2)'), /assertion/, { start: true }),
  way('an error nobody handles', node('null.x'), /does not handle.*Cannot read properties/, { start: true }),
  way('a promise nobody handles', node('Promise.reject(new Error("moon"))'), /does not handle.*moon/, {
    start: true,
  }),
  way('a recursion without end', node('const f = () => f(); f()'), /called itself without end/, {
    start: true,
  }),
  way(
    'a Go panic',
    says(
      'panic: assignment to entry in nil map',
      '',
      'goroutine 1 [running]:',
      'main.main()',
      '\t/srv/gw.go:7 +0x1d',
      'exit status 2',
    ),
    /does not handle.*nil map/,
    { start: true },
  ),
  way(
    'goroutines that wait for each other',
    says('fatal error: all goroutines are asleep - deadlock!', '', 'goroutine 1 [chan receive]:'),
    /wait for each other/,
    { start: true },
  ),
  way(
    'a fatal error in its own words',
    says('2026-11-22T10:00:09Z FATAL the flux has left the building'),
    /calls fatal.*flux/,
  ),
  way(
    'an error while it clears up after the reason',
    says('FATAL licence expired', 'ERROR flush: connection refused'),
    /licence/,
  ),

  // What nobody can tell from outside.
  way(
    'a kill in the middle of its work',
    'kill -9 $$',
    /not running\. Its log shows no error before it stopped, so why it stopped is not known/,
    { start: true },
  ),
  way('an exit without a word', 'exit 3', /why it stopped is not known/, { start: true }),
  atStart('an exit without a word while it starts', 'exit 3', null, {
    tells: /was starting, without a reason/,
  }),
  way('last words that nobody knows', says('the flux capacitor is drained'), null, {
    tells: /I recognise no reason.*flux capacitor/,
  }),
  way(
    'an INFO line that is a reason',
    says('2026-11-22T10:00:09Z INFO seat limit reached for tenant 4'),
    null,
    { tells: /I recognise no reason.*seat limit/ },
  ),
  way(
    'how it is called, and nothing else',
    says('Usage: gateway [-c file]', '  -c file   the configuration'),
    null,
    { tells: /I recognise no reason/ },
  ),
  way('a stop that it was told', says('2026-11-22T10:00:09Z INFO received SIGTERM, shutting down'), null, {
    tells: /told to stop/,
  }),
  way('work that is done', says('2026-11-22T10:00:09Z INFO all work finished'), null, {
    tells: /good order/,
  }),
  way(
    'an error it survived, then a kill',
    `${says('ERROR cache: connection refused')}; ${WORK} kill -9 $$`,
    /last lines of its log show no error, so why/,
    { start: true },
  ),
  way(
    'an error it tries again after, then a kill',
    `${says(...Array.from({ length: 4 }, () => 'ERROR relay: connection refused, trying again'))}; kill -9 $$`,
    /went on each time before, so why it stopped is not known/,
    { start: true },
  ),
  way(
    'a warning about something it can do without, then a kill',
    `${says('WARN cache: connection refused, using memory')}; kill -9 $$`,
    null,
    { tells: /I recognise no reason.*using memory/ },
  ),
  way(
    'an error, then a way round it, then a kill',
    `${says('cannot connect to cache', 'switched to memory', 'listening on 8080')}; kill -9 $$`,
    null,
    { tells: /I recognise no reason.*8080/ },
  ),
  way(
    'two errors of which only one can be the reason',
    says('ERROR flush: no space left on device', 'ERROR close: connection refused'),
    null,
    { tells: /I recognise no reason/ },
  ),
  {
    name: 'start after start, for a reason it states',
    script: `for n in 1 2 3 4; do ${STARTS}${says('Error: listen EADDRINUSE: address already in use :::8080')}; done`,
    cause: /started again and again.*in use/,
  },
  {
    name: 'start after start, for a fault that one more start would have mended',
    script: `for n in 1 2 3 4; do ${STARTS}${says('Segmentation fault')}; done`,
    cause: /started again and again.*segmentation fault/,
  },
  {
    name: 'start after start, without a word',
    script: `for n in 1 2 3 4; do ${STARTS}:; done`,
    cause: null,
    tells: /started again and again\. I recognise no reason/,
  },

  // The words of others: runtimes, servers, loaders; some of them misleading.
  atStart(
    'a setting out of its bounds',
    node('throw new Error("workers must be between 1 and 64")'),
    /configuration.*between 1 and 64/,
  ),
  atStart(
    'a port that is none',
    node('require("node:http").createServer().listen(99999)'),
    /configuration.*99999/,
  ),
  atStart(
    'a certificate that is no PEM',
    node('require("node:tls").createSecureContext({ cert: "nonsense" })'),
    /key or certificate.*PEM/,
  ),
  atStart(
    'a field that its configuration lacks',
    node('const c = {}; c.db.url.split(":")'),
    /does not handle.*Cannot read/,
  ),
  atStart(
    'an interpreter that is not there',
    `echo '#!/opt/none/python' > app/gw; chmod +x app/gw; ./app/gw`,
    /program it calls|file or folder/,
  ),
  atStart(
    'a program of another format',
    `printf '\\177ELF\\002\\001\\001\\000junk' > app/gw; chmod +x app/gw; ./app/gw`,
    /not made for this machine/,
  ),
  atStart('a program that may not be run', 'echo x > app/gw; ./app/gw', /may not use.*[Pp]ermission denied/),
  atStart('a folder it is to work in', 'cd /srv/no-such-folder && ./gw', /file or folder.*no-such-folder/),
  atStart('a Perl module that is not installed', `perl -e 'use Gateway::Core;'`, /module it needs.*Gateway/),
  atStart(
    'a placeholder that Spring cannot fill',
    says(`java.lang.IllegalArgumentException: Could not resolve placeholder "gateway.secret" in value`),
    /setting or variable.*gateway\.secret/,
  ),
  atStart(
    'a Java service whose database refuses, three causes down',
    `${says('ERROR 1 --- [main] o.s.boot.SpringApplication : Application run failed', 'org.springframework.beans.factory.BeanCreationException: Error creating bean')}; printf '\tat a.B.c(B.java:3)\n'; ${says('Caused by: java.lang.IllegalStateException: pool could not start')}; printf '\tat a.B.d(B.java:9)\n'; ${says('Caused by: java.net.ConnectException: Connection refused')}; printf '\t... 24 more\n'`,
    /does not answer.*ConnectException/,
  ),
  atStart(
    'a key that Ruby does not find',
    says('gw.rb:3:in `fetch`: key not found: "GATEWAY_SECRET" (KeyError)'),
    /setting or variable.*GATEWAY_SECRET/,
  ),
  atStart(
    'a variable that mysqld does not know',
    says('0 [ERROR] [Server] unknown variable pool_sise=1G.', '0 [ERROR] [Server] Aborting'),
    /option or setting.*pool_sise/,
  ),
  atStart(
    'a lock file, and the question that follows it',
    says(
      '10:00:00 UTC [9] FATAL:  lock file "gateway.lock" already exists',
      '10:00:00 UTC [9] HINT:  Is another gateway (PID 1) running?',
    ),
    /another one of it.*gateway\.lock/,
  ),
  atStart(
    'a block of YAML that is none',
    says('2026/11/22 10:00:00 yaml: line 3: mapping values are not allowed in this context'),
    /configuration.*line 3/,
  ),
  atStart('a clock that is wrong', says('ERROR Kerberos: Clock skew too great (37), exiting'), /clock.*skew/),
  atStart(
    'a key of another certificate',
    says('ERROR tls: private key does not match public key'),
    /certificate.*does not match/,
  ),
  atStart(
    'a database that Kafka waits for in vain',
    says(
      'ERROR Fatal error during startup (kafka.server.KafkaServer)',
      'kafka.zookeeper.ZooKeeperClientTimeoutException: Timed out waiting for connection while in state: CONNECTING',
    ),
    /does not answer.*Timed out/,
  ),
  way(
    'a panic of Rust, and the hint after it',
    `cat <<'END'
thread 'main' panicked at src/main.rs:12:10:
called \`Option::unwrap()\` on a \`None\` value
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace
END`,
    /does not handle.*panicked/,
    { start: true },
  ),
  way(
    'a method that Ruby does not find',
    says('gw.rb:9:in `serve`: undefined method `id` for nil (NoMethodError)'),
    /does not handle.*NoMethodError/,
    { start: true },
  ),
  way('a trap', signalled('TRAP'), /ended itself/, { start: true }),
  way('a crash that its own handler tells', says('caught signal 11 (SIGSEGV)'), /segmentation fault/, {
    start: true,
  }),
  atStart('a crash before any work', signalled('SEGV'), /segmentation fault/),
  atStart('no more memory before any work', says('std::bad_alloc'), /no more memory/),
  atStart(
    'a reason in colours',
    `printf '\\033[31mFATAL\\033[0m \\033[1mlicence expired\\033[0m\\n'`,
    /licence/,
  ),
  atStart(
    'a reason with the line ends of Windows',
    `printf 'Error: listen EADDRINUSE: address already in use\r\n    at listen\r\n'`,
    /in use/,
  ),
  // What the last line says is not why.
  way(
    'an error while it stops as it was told',
    says('INFO received SIGTERM, shutting down', 'ERROR relay: connection reset by peer'),
    null,
    { tells: /told to stop/ },
  ),
  way(
    'an error of one job, then a kill',
    `${says('ERROR job 4711 failed: no such file or directory: invoice.pdf')}; kill -9 $$`,
    null,
    { tells: /I recognise no reason.*4711/ },
  ),
  way(
    'the words of a user, then a kill',
    `${says('message from bob: "we are out of memory, lol"')}; kill -9 $$`,
    null,
    { tells: /I recognise no reason.*bob/ },
  ),
  way(
    'an INFO line that is a reason, in German',
    says('2026-11-22T10:00:09Z INFO Lizenz abgelaufen am 01.11.2026'),
    null,
    { tells: /I recognise no reason.*Lizenz/ },
  ),
  way(
    'an INFO line that is a reason, in Japanese',
    says('2026-11-22T10:00:09Z INFO ライセンスの有効期限が切れました'),
    null,
    { tells: /I recognise no reason.*ライセンス/ },
  ),
  way('a line of a megabyte', `head -c 1000000 /dev/zero | tr '\\0' x; echo; kill -9 $$`, null),
  {
    name: 'start after start, each with its version and nothing else',
    script: 'for n in 1 2 3 4; do echo "Gateway v2.3"; echo "reads /etc/gw.conf"; echo "workers: 4"; done',
    cause: null,
    tells: /I recognise no reason/,
  },
  {
    name: 'start after start, each ready and then gone',
    script:
      'for n in 1 2 3 4; do echo "INFO Gateway v2.3"; echo "INFO workers: 4"; echo "INFO ready to serve"; done',
    cause: null,
    tells: /I recognise no reason/,
  },
];
