/** A folder whose files `tail` may show. */
export interface LogRoot {
  readonly root: string;
  /** True: only files that are logs by their name or folder, because other things live there too. */
  readonly logsOnly: boolean;
}

/** What the operator decides about diagnostics; everything else is the grammar's. */
export interface CommandPolicy {
  /** Hosts `curl` may ask, lower case, exact; an entry that starts with a dot also stands for what is below it. */
  readonly curlHosts: readonly string[];
  /** Ports whose answers hold secrets or whose reads change something. */
  readonly curlDeniedPorts: readonly number[];
  readonly logRoots: readonly LogRoot[];
}

/**
 * `curl` reaches this machine only: health pages and metrics. Denied ports: SSH, mail, Docker (2375, 2376, 4243), etcd
 * (2379, 2380, 4001), kubelet (10250, 10255), Kubernetes API (6443, 8001), Vault (8200), Consul (8500), PostgreSQL,
 * MySQL, Redis, memcached: their answers are secrets, or a request line is already a command.
 */
export const defaultCommandPolicy: CommandPolicy = {
  curlHosts: ['localhost', '127.0.0.1', '[::1]'],
  curlDeniedPorts: [
    21, 22, 23, 25, 110, 143, 389, 445, 465, 587, 993, 2375, 2376, 2377, 2379, 2380, 3306, 4001, 4243, 5432,
    6379, 6443, 8001, 8200, 8500, 10250, 10255, 11211, 27017,
  ],
  logRoots: [
    { root: '/var/log', logsOnly: false },
    { root: '/opt', logsOnly: true },
    { root: '/srv', logsOnly: true },
    { root: '/var/opt', logsOnly: true },
    { root: '/var/lib', logsOnly: true },
    { root: '/usr/local', logsOnly: true },
  ],
};
