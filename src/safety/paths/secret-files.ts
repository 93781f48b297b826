/**
 * Files nobody investigates with, because they hold credentials: keys, password files, tokens, shell histories,
 * database settings. Matched without regard to case and under the names that editors and backups give to copies.
 */
const names: readonly RegExp[] = [
  // Keys, certificates with keys, key stores.
  /\.(?:pem|key|p8|p12|pfx|pkcs12|jks|jceks|keystore|kdb|kdbx|ppk|keytab|agekey|gpg|pgp|ovpn|der)$/u,
  /^id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?(?!.*\.pub$)/u,
  /^ssh_host_.*_key$/u,
  /^(?:authorized_keys2?|identity|secring\..*|private[-_]?key.*|master\.key)$/u,
  // Accounts of the system.
  /^(?:shadow|gshadow|passwd|opasswd|master\.passwd|sudoers|sam|system\.sav|krb5cc.*|\.k5login)$/u,
  // Environment and credentials of programs.
  /^\.env(?:rc)?$/u,
  /^\.env[._-](?!(?:example|sample|template|dist|defaults?)$)/u,
  /(?<!^(?:example|sample|template))\.env$/u,
  /^(?:\.pgpass|pgpass\.conf|\.pg_service\.conf|\.my\.cnf|\.mylogin\.cnf|debian\.cnf)$/u,
  /^(?:[._]netrc|\.git-credentials|\.npmrc|\.yarnrc\.yml|\.pypirc|\.dockercfg|\.s3cfg|\.boto|\.rhosts|\.shosts)$/u,
  /^\.?ht(?:passwd|access)$/u,
  /^\.?vault[-_](?:token|pass|password).*$/u,
  /^\.?credentials?(?:\.(?:json|ya?ml|toml|ini|cfg|csv|db|xml|txt|env))?$/u,
  /^\.?secrets?(?:\.(?:json|ya?ml|toml|ini|cfg|csv|db|xml|txt|env|enc|php|rb|py))?$/u,
  /[-_.]secrets?\.(?:json|ya?ml|toml|ini|env)$/u,
  /^(?:application_default_credentials|service[-_]?account.*|client_secrets?.*)\.json$/u,
  /^\.?kube-?config(?:[._-].*)?$|\.kubeconfig$/u,
  /\.(?:tfstate|tfvars)(?:\.json)?$/u,
  // Where applications keep the password of their database.
  /^(?:database|dbase)\.(?:asp|aspx|php|inc|js|json|ya?ml|ini|xml|config|properties|mdb)$/u,
  /^(?:db|connections?(?:trings?)?)\.(?:asp|aspx|inc|config|php|mdb)$/u,
  /^(?:wp-config.*\.php|config\.inc\.php|web\.config|global\.asa|tnsnames\.ora|jenkins\.plugins\..*secret.*)$/u,
  // A key or password by its name, whatever program it is of.
  /^(?:[a-z0-9]+[-_.])*(?:vault|master|signing|session|encryption|api|auth|deploy|cookie|jwt|ssl|tls|hmac)[-_]?keys?(?:\.(?:txt|json|ya?ml|hex|b64|bin))?$/u,
  /^(?:[a-z0-9]+[-_.])*(?:passwords?|passphrase|tokens?)(?:\.(?:txt|json|ya?ml|ini|conf|csv))?$/u,
  // Settings of servers and frameworks, where passwords of replicas, clients and connections stand.
  /^(?:postgresql\.auto\.conf|recovery\.conf|userlist\.txt|my\.cnf|mysqld?\.cnf|odbc\.ini|redis\.conf|sentinel\.conf|users\.acl|rabbitmq\.conf|mongod?\.conf|ldap\.conf|smb\.conf|slapd\.conf)$/u,
  /^(?:appsettings|connectionstrings)(?:\.[a-z0-9_-]+)*\.json$/u,
  /^(?:application|bootstrap)(?:[-_.][a-z0-9_-]+)*\.(?:properties|ya?ml)$/u,
  /^(?:local[-_]?settings|settings[-_.]local)\.(?:py|json|ya?ml|php)$/u,
  // What people typed.
  /^\.(?:[a-z0-9]+_)*history$|^\.(?:ba|z|k|a|fi|c)?sh_history$|^\.(?:viminfo|lesshst)$/u,
];

/** Folders whose whole content is out of bounds, as consecutive segments. */
const folders: readonly string[] = [
  '.sentry',
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.config/op',
  '.config/containers',
  '.password-store',
  '.mozilla',
  '.git',
  '.svn',
  '.hg',
  'etc/ssl/private',
  'etc/pki/private',
  'etc/pki/tls/private',
  'etc/sudoers.d',
  'etc/kubernetes/pki',
  'etc/letsencrypt/live',
  'etc/letsencrypt/archive',
  'etc/wireguard',
  'etc/openvpn',
  'etc/ipsec.d',
  'run/secrets',
  'run/credentials',
  'var/lib/kubelet/pods',
  'var/lib/kubelet/pki',
  'var/lib/etcd',
  'var/lib/sss/db',
  'var/lib/samba/private',
  'var/spool/cron',
];

/** Files of `/etc/kubernetes` and `/etc/rancher` that are client configurations with keys. */
const kubernetesConfig = /\/etc\/(?:kubernetes\/[^/]+\.conf|rancher\/.*\.ya?ml)$/u;

/** What copies are called: `shadow-`, `.env.bak`, `id_rsa.old.gz`, `.server.key.swp`. */
const copySuffix =
  /(?:[~-]|[._-](?:bak|backup|old|orig|save|saved|copy|tmp|swp|swo|rpmsave|rpmnew|dpkg-[a-z]+|gz|xz|bz2|zst|zip|tar|tgz|\d{1,14}))+$/u;

/** Whether a path (absolute or relative, `/` between segments) names a file that holds credentials. */
export function isSecretFile(path: string): boolean {
  const folded = path.normalize('NFKC').toLowerCase();
  const anchored = folded.startsWith('/') ? folded : `/${folded}`;
  if (kubernetesConfig.test(anchored)) return true;
  if (folders.some((folder) => `${anchored}/`.includes(`/${folder}/`))) return true;
  const name = anchored.slice(anchored.lastIndexOf('/') + 1);
  // No file system has such a name, and the patterns take their time over it.
  if (name.length > 4_096) return true;
  const original = name.replace(copySuffix, '');
  const forms = [name, original, original.replace(/^\./u, '')];
  return names.some((pattern) => forms.some((form) => pattern.test(form)));
}
