import type { Draw } from './draw.ts';

const sha = (draw: Draw) => draw.run('hex', 40);
const pod = (draw: Draw) =>
  `${draw.pick(['checkout', 'payment-gateway', 'kube-state-metrics'])}-${draw.run('hex', 10)}-${draw.run('lowerDigits', 5)}`;

/** What operations text is full of, and is no secret, by what it is. */
export const cleanTexts: Readonly<Record<string, (draw: Draw) => string>> = {
  uuid: (draw) => `request ${draw.uuid()} failed, correlation_id=${draw.uuid()}`,
  gitSha: (draw) => `commit ${sha(draw)}\nMerge: ${sha(draw).slice(0, 10)} ${sha(draw).slice(0, 10)}`,
  gitDiff: (draw) =>
    `index ${sha(draw).slice(0, 7)}..${sha(draw).slice(0, 7)} 100644\n--- a/src/token.ts\n+++ b/src/token.ts`,
  digest: (draw) => `image: registry.example.com/shop/web@sha256:${draw.run('hex', 64)}`,
  containerId: (draw) => `containerID: containerd://${draw.run('hex', 64)}`,
  integrity: (draw) => `"integrity": "sha512-${draw.run('base64', 86)}==",`,
  yarnLock: (draw) =>
    `  resolved "https://packages.example.com/left-pad/-/left-pad-1.3.0.tgz#${sha(draw)}"\n  integrity sha1-${draw.run('base64', 27)}=`,
  goSum: (draw) =>
    `golang.org/x/net v0.33.0 h1:${draw.run('base64', 43)}=\ngolang.org/x/net v0.33.0/go.mod h1:${draw.run('base64', 43)}=`,
  cargoLock: (draw) => `name = "serde"\nversion = "1.0.217"\nchecksum = "${draw.run('hex', 64)}"`,
  pipHash: (draw) => `requests==2.32.3 \\\n    --hash=sha256:${draw.run('hex', 64)}`,
  pods: (draw) =>
    `NAME READY STATUS RESTARTS AGE\n${pod(draw)} 0/1 CrashLoopBackOff ${draw.number(90)} 3d4h\n${pod(draw)} 1/1 Running 0 3d4h`,
  resource: (draw) =>
    `metadata:\n  uid: ${draw.uuid()}\n  resourceVersion: "${draw.run('digits', 9)}"\n  generateName: ${pod(draw)}-`,
  secretRef: (draw) =>
    `env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: ${pod(draw)}\n      key: password`,
  trace: (draw) => `traceparent: 00-${draw.run('hex', 32)}-${draw.run('hex', 16)}-01`,
  traceLog: (draw) => `{"trace_id":"${draw.run('hex', 32)}","span_id":"${draw.run('hex', 16)}","msg":"done"}`,
  arn: (draw) =>
    `arn:aws:secretsmanager:eu-west-1:${draw.run('digits', 12)}:secret:prod/db-${draw.run('word', 6)}`,
  instance: (draw) =>
    `i-0${draw.run('hex', 16)} in subnet-0${draw.run('hex', 16)}, vol-0${draw.run('hex', 16)}, sg-0${draw.run('hex', 16)}`,
  picture: (draw) => `![graph](data:image/png;base64,iVBORw0KGgo${draw.run('base64', 200)}=)`,
  javaStack: () =>
    'java.lang.IllegalStateException: token expired\n\tat com.shop.auth.TokenService$$EnhancerBySpringCGLIB$$1a2b3c4d.verify(TokenService.java:118)\n\tat java.base/java.util.concurrent.ThreadPoolExecutor$Worker.run(ThreadPoolExecutor.java:642)',
  goStack: (draw) =>
    `goroutine 1 [running]:\nmain.(*Auth).Password(0xc000${draw.run('hex', 6)}, {0x${draw.run('hex', 6)}, 0x10})\n\t/src/auth.go:42 +0x1d`,
  python: () =>
    'Traceback (most recent call last):\n  File "/app/auth.py", line 42, in get_secret\n    raise KeyError("password")\nKeyError: \'password\'',
  etag: (draw) =>
    `ETag: "${draw.run('hex', 32)}-5"\nx-amz-request-id: ${draw.run('upperDigits', 16)}\nx-amz-id-2: host`,
  fingerprint: (draw) => `SHA256:${draw.run('base64', 43)} deploy@ci (ED25519)`,
  fingerprintHex: (draw) =>
    `SHA1 Fingerprint=${Array.from({ length: 20 }, () => draw.run('hex', 2).toUpperCase()).join(':')}`,
  placeholders: () =>
    'export API_TOKEN=<your-token>\nPASSWORD=${DB_PASSWORD}\npassword: "{{ vault_password }}"\ntoken: $(cat /run/secrets/token)',
  docs: () =>
    'Set `password` in the secret, then restart. The token must not be empty; the API key is created under Settings > Keys.',
  metric: (draw) =>
    `container_memory_usage_bytes{id="/kubepods/burstable/pod${draw.uuid()}/${draw.run('hex', 64)}",namespace="shop"} 1.2e+08`,
  settings: () =>
    'token_ttl: 3600\nmax_tokens: 8192\npassword_min_length: 12\nsecret_name: shop-db\nkey_file: /etc/ssl/private/web.key\nauth_method: scram-sha-256',
  etcd: (draw) =>
    `member ${draw.run('hex', 16)} is healthy; cluster id ${draw.run('hex', 16)}, raft term ${draw.number(900)}`,
  address: () =>
    'redis://cache:6379/0 and postgres://db.internal:5432/shop?sslmode=require and https://user@example.com/path',
  buildx: (draw) =>
    `#9 sha256:${draw.run('hex', 64)} 31.36MB / 31.36MB 1.2s done\n#9 extracting sha256:${draw.run('hex', 64)}`,
  nonce: (draw) => `Content-Security-Policy: script-src 'sha256-${draw.run('base64', 43)}='`,
  publicKey: (draw) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${draw.run('base64', 43)} deploy@ci`,
  signedMail: (draw) =>
    `DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=s1; bh=${draw.run('base64', 43)}=; h=from:to; b=${draw.run('base64', 86)}\n ${draw.run('base64', 76)}`,
  mailKey: (draw) => `v=DKIM1; k=ed25519; p=${draw.run('base64', 43)}=`,
  match: (draw) => `If-None-Match: "${draw.run('base64', 43)}"\nDigest: SHA-256=${draw.run('base64', 43)}=`,
  structuredDigest: (draw) =>
    `Repr-Digest: sha-256=:${draw.run('base64', 43)}=:\n"CodeSha256": "${draw.run('base64', 43)}="`,
  pin: (draw) => `pin-sha256="${draw.run('base64', 43)}="; max-age=5184000`,
  publicBlock: (draw) => `-----BEGIN PUBLIC KEY-----\n${draw.run('base64', 64)}\n-----END PUBLIC KEY-----`,
  ecKey: (draw) =>
    `ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABB${draw.run('base64', 85)}= ops@ci`,
  checksum: (draw) => `checksum/secret: ${draw.run('hex', 64)}`,
  keyName: (draw) => `{"kid": "${draw.run('base64url', 43)}", "use": "sig"}`,
  standIns: () =>
    'password: example-password\ntoken: sample-token-1\nsecret: dummy-secret\npassword: @@DB_PASS@@',
  ipv6: (draw) =>
    `fe80::${draw.run('hex', 4)}:${draw.run('hex', 4)}:${draw.run('hex', 4)}:${draw.run('hex', 4)}%eth0`,
};
