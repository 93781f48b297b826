/**
 * Short forms and their words: always the same thing, so the short form is replaced. Spelled as one word where
 * `phrases` knows the words apart.
 */
export const shortForms: ReadonlyMap<string, string> = new Map(
  Object.entries({
    authn: 'authentication',
    auth: 'authentication',
    authz: 'authorization',
    avg: 'average',
    cert: 'certificate',
    certs: 'certificate',
    cfg: 'configuration',
    conf: 'configuration',
    config: 'configuration',
    configs: 'configuration',
    conn: 'connection',
    conns: 'connection',
    ctrl: 'controller',
    db: 'database',
    dbs: 'database',
    deploy: 'deployment',
    dir: 'directory',
    dirs: 'directory',
    ds: 'daemonset',
    env: 'environment',
    err: 'error',
    errs: 'error',
    fd: 'filedescriptor',
    fds: 'filedescriptor',
    fs: 'filesystem',
    hpa: 'horizontalpodautoscaler',
    iface: 'interface',
    init: 'initialize',
    k8s: 'kubernetes',
    kube: 'kubernetes',
    lb: 'loadbalancer',
    max: 'maximum',
    maxed: 'maximum',
    mem: 'memory',
    mgmt: 'management',
    mgr: 'manager',
    min: 'minimum',
    msg: 'message',
    msgs: 'message',
    nic: 'interface',
    ns: 'namespace',
    param: 'parameter',
    params: 'parameter',
    perm: 'permission',
    perms: 'permission',
    pg: 'postgres',
    pgsql: 'postgres',
    pkt: 'packet',
    pkts: 'packet',
    postgre: 'postgres',
    postgresql: 'postgres',
    proc: 'process',
    procs: 'process',
    prom: 'prometheus',
    psql: 'postgres',
    pv: 'persistentvolume',
    pvc: 'persistentvolumeclaim',
    pvcs: 'persistentvolumeclaim',
    pvs: 'persistentvolume',
    ram: 'memory',
    repl: 'replication',
    repo: 'repository',
    repos: 'repository',
    req: 'request',
    reqs: 'request',
    resp: 'response',
    rx: 'receive',
    sched: 'schedule',
    spec: 'specification',
    stat: 'statistic',
    stats: 'statistic',
    sts: 'statefulset',
    svc: 'service',
    svcs: 'service',
    sync: 'synchronize',
    synced: 'synchronize',
    syncing: 'synchronize',
    tmp: 'temporary',
    tx: 'transmit',
    txn: 'transaction',
    util: 'utilization',
    vm: 'virtualmachine',
    vms: 'virtualmachine',
    xact: 'transaction',
    xacts: 'transaction',
  }),
);

/**
 * Wordings of one condition, as operators, alert rules and error messages have them; a line each, by the first. They
 * count less than the word itself. Written from the words of the field (Kubernetes and PostgreSQL documentation, errno,
 * HTTP), not from queries; add a line when two words mean the same to whoever is on call.
 */
export const phrases: readonly (readonly string[])[] = `
oom | oomkilled | oom killed | oom killer | out of memory | exit code 137 | exited 137 | memory exhausted | cannot allocate memory | memory limit exceeded
crash loop | crashloopbackoff | crash looping | restarting repeatedly | keeps restarting | back off restarting | frequent restarts | restart loop
segfault | exit code 139 | segmentation fault | sigsegv
image pull | imagepullbackoff | errimagepull | pull image | pulling image
autoscaler | autoscaling | horizontalpodautoscaler | horizontal pod autoscaler
persistentvolume | persistent volume
persistentvolumeclaim | persistent volume claim
virtualmachine | virtual machine
filedescriptor | file descriptor | too many open files | emfile | open files
loadbalancer | load balancer
filesystem | file system
data center | datacenter
throttle | cfs throttling | cpu throttling | throttled
wal | write ahead log | pg wal | xlog
wraparound | transaction id wraparound | xid wraparound | transaction ids | datfrozenxid | freeze age
deadlock | dead lock | deadlock detected | lock cycle
lock | blocked | blocking | waiting for lock | lock wait | lock contention
replica | standby | secondary | slave | follower
primary | master | leader
lag | replication lag | replica lag | lagging | falling behind | delayed | behind
split brain | two primaries | multiple leaders | partition
failover | switchover | promotion | leader change | leader election
quorum | majority | insufficient members
bloat | dead tuples | dead rows | autovacuum | vacuum
full | filling up | fill | running out | run out | almost out | no space left on device | enospc | disk full | exhausted | exhaustion | out of space | low on space | depleted
disk | storage | volume | filesystem | device
inode | inodes | out of files | files filling up
down | unavailable | unreachable | not reachable | not available | not responding | does not respond | no response | offline | not running | outage | disappeared | absent | missing | not up | lost connection
not ready | notready | unready | unhealthy | not healthy | degraded
fail | failing | failed | failure | unsuccessful | unable | cannot | could not | error
slow | latency | high latency | response time | takes too long | taking too long | long running | duration | slowness
high | too many | too high | excessive | exceeds | exceeded | above | elevated | increased | spike | surge
low | too few | insufficient | not enough | below | shortage | lack
capacity | near capacity | saturated | saturation | close to limit | near limit | limit
mismatch | does not match | not matched | do not match | inconsistent | inconsistency | differ | different | out of sync | diverged | not in sync | disagree
expire | expiring | expiration | expiry | expired
certificate | tls | ssl | x509
clock skew | clock drift | time drift | clock not synchronized | ntp | time synchronization
drop | dropped | packet loss | lost | loss | discarded
receive | inbound | received | ingress | incoming
transmit | outbound | transmitted | egress | outgoing | sent
stuck | hung | hanging | stalled | not progressing | no progress | frozen | not completing | pending
not scheduled | unschedulable | failed scheduling | failedscheduling | pending pod | cannot be scheduled
overcommit | over commit | overcommitted | oversubscribed
evict | eviction | evicted | disk pressure | memory pressure
kill | killed | terminated | terminate | sigkill
swap | swapping | paging | swap space
cpu | processor
refused | connection refused | econnrefused
timeout | timed out | time out | deadline exceeded | context deadline exceeded | etimedout
dns | name resolution | resolve | nxdomain | servfail | coredns
forbidden | unauthorized | permission denied | access denied | not authorized | eacces | 403 | 401
too many connections | connection limit | max connections | connection exhaustion | connection pool exhausted | remaining connection slots | connection saturation | connection utilization
invalid | malformed | bad | incorrect | misconfigured | wrong | corrupt
reject | rejected | refused | denied
corruption | corrupted | checksum | corrupt
backup | snapshot | dump
queue | backlog | queued | pending messages
restart | restarted | reboot | rebooted
flapping | unstable | intermittent | oscillating
scrape | target down | targets
garbage collection | gc pause
hypervisor | kvm | libvirt | qemu
host | instance | machine | server | node
ecc | edac | memory error | correctable
raid | md array | mdadm | array degraded
server error | 5xx | 500 | server errors | internal server error | 502 | 503 | 504 | http errors
client error | 4xx | client errors | 404
usage | utilization | consumption | used
disk io | iops | io wait | iowait | disk utilization
delete | deleted | deletion | removed | remove
rollout | rolling update | update | deploy | upgrade
`
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((phrase) => phrase.trim()));
