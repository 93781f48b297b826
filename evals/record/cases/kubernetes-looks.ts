import { healthy, undecidable } from '../expected.ts';
import { condition, type KubernetesCase, quota, service, why } from './kubernetes-scene.ts';

/** What is well, what looks like something else, and what cannot be told. */
export const clusterLooks: readonly KubernetesCase[] = [
  // Systems that are well.
  ...(
    [
      [
        'rollout',
        'KubeDeploymentRolloutStuck',
        'Rollout of deployment is not progressing',
        'orders',
        'shop/orders:18',
      ],
      [
        'crash',
        'KubePodCrashLooping',
        'A container restarts again and again',
        'basket',
        'retail/basket:2.0.7',
      ],
      ['oom', 'PodOOMKilled', 'A container was OOMKilled', 'scorer', 'ml/scorer:41'],
      ['image', 'PodImagePullBackOff', 'ImagePullBackOff', 'gateway', 'edge/gateway:1.30'],
      ['config', 'KubeContainerConfigError', 'CreateContainerConfigError', 'planner', 'erp/planner:5'],
      ['pending', 'KubePodPending', 'A pod is pending', 'encoder', 'video/encoder:9'],
      [
        'mismatch',
        'KubeDeploymentReplicasMismatch',
        'Deployment has not matched the expected number of replicas',
        'tagger',
        'news/tagger:0.9',
      ],
    ] as const
  ).map(
    ([id, alertname, summary, name, image], at): KubernetesCase => ({
      id: `kubernetes-well-${id}`,
      title: `${alertname} about a workload that is well`,
      runbook: null,
      namespace: image.split('/')[0] ?? 'shop',
      beside: { [`${name}-worker`]: `${image}.${at}`, ...(at % 2 ? { cache: `infra/cache:${at}` } : {}) },
      alert: [alertname, summary, { deployment: name }],
      expected: healthy(`${name} is whole.`),
      looks: [why(image.split('/')[0] ?? 'shop', name)],
      async cause({ roll, whole }) {
        await roll(name, { image, replicas: 1 + (at % 4) });
        await whole(name);
      },
    }),
  ),
  {
    id: 'kubernetes-well-quota',
    title: 'A quota with room',
    runbook: 'kubernetes-quota',
    namespace: 'wiki',
    beside: {},
    alert: ['KubeQuotaAlmostFull', 'Namespace wiki has nearly used up its quota', { resourcequota: 'wiki' }],
    expected: healthy('The quota has room.'),
    async cause({ apply, roll, whole, namespace }) {
      await apply(quota(namespace, 'wiki', { pods: '10' }));
      await roll('pages', { image: 'wiki/pages:1', replicas: 2 });
      await whole('pages');
    },
  },
  {
    id: 'kubernetes-well-node',
    title: 'A node that is ready again',
    runbook: 'kubernetes-node-not-ready',
    namespace: 'iot',
    beside: { hub: 'iot/hub:3', rules: 'iot/rules:3' },
    alert: ['KubeNodeUnreachable', 'node-1 is unreachable', { node: 'node-1' }],
    expected: healthy('node-1 is ready.'),
    async cause({ until: seen, cluster }) {
      await seen(
        'node-1 is ready',
        () => condition(cluster.object('Node', null, 'node-1'), 'Ready') === 'True',
      );
    },
  },
  {
    id: 'kubernetes-well-service',
    title: 'A service whose pods are ready',
    runbook: 'kubernetes-service-without-endpoints',
    namespace: 'blog',
    beside: { feed: 'blog/feed:2' },
    alert: ['KubeServiceNoEndpoints', 'Service blog/posts has no endpoints', { service: 'posts' }],
    expected: healthy('Service posts has ready pods.'),
    async cause({ apply, roll, whole, namespace, until: seen, cluster }) {
      await roll('posts', { image: 'blog/posts:7', replicas: 2 });
      await whole('posts');
      await apply(service(namespace, 'posts', { app: 'posts' }));
      await seen('posts has endpoints', () =>
        JSON.stringify(cluster.object('Endpoints', namespace, 'posts') ?? {}).includes('addresses'),
      );
    },
  },
  // What looks like something else, or cannot be told.
  {
    id: 'kubernetes-slow-answers',
    title: 'Slow answers of a workload that is whole',
    runbook: null,
    namespace: 'rides',
    beside: { drivers: 'rides/drivers:5' },
    alert: ['HighRequestLatency', 'p99 of rides/match is above 2 s', { deployment: 'match' }],
    expected: undecidable('Nothing in the cluster shows why it is slow.'),
    looks: [why('rides', 'match')],
    async cause({ roll, whole }) {
      await roll('match', { image: 'rides/match:3', replicas: 3 });
      await whole('match');
    },
  },
  {
    id: 'kubernetes-certificate',
    title: 'A certificate that ends soon',
    runbook: null,
    namespace: 'bank',
    beside: { transfers: 'bank/transfers:9', limits: 'bank/limits:2' },
    alert: [
      'CertificateExpiringSoon',
      'The certificate of bank.example ends in 3 days',
      { secret: 'bank-tls' },
    ],
    expected: undecidable('Certificates are not read.'),
    cause: async () => undefined,
  },
  {
    id: 'kubernetes-job-failed',
    title: 'A nightly job failed',
    runbook: null,
    namespace: 'nightly',
    beside: { scheduler: 'nightly/scheduler:1' },
    alert: ['KubeJobFailed', 'Job nightly/export-2026 failed to complete', { job_name: 'export-2026' }],
    expected: undecidable('The job is gone.'),
    cause: async () => undefined,
  },
  {
    id: 'kubernetes-volume-full',
    title: 'A volume that is nearly full',
    runbook: null,
    namespace: 'logs',
    beside: { shipper: 'logs/shipper:4' },
    alert: [
      'KubePersistentVolumeFillingUp',
      'The volume of logs/archive is filling up',
      { persistentvolumeclaim: 'archive' },
    ],
    expected: undecidable('What is on a volume is not read.'),
    cause: async () => undefined,
  },
  {
    id: 'kubernetes-api-errors',
    title: 'Errors of the API server',
    runbook: null,
    namespace: 'infra',
    beside: { dns: 'infra/dns:1.11' },
    alert: ['KubeAPIErrorBudgetBurn', 'The API server is burning its error budget', {}],
    severity: 'critical',
    expected: undecidable('Nothing that is read tells of it.'),
    cause: async () => undefined,
  },
  {
    id: 'kubernetes-another-dies',
    title: 'The alert is about one workload, and another is ill',
    runbook: 'kubernetes-crash-loop',
    namespace: 'social',
    beside: {},
    alert: ['KubePodCrashLooping', 'A pod of social/likes is in a crash loop', { deployment: 'likes' }],
    expected: healthy('likes is whole; shares is ill, which the alert is not about.'),
    async cause({ roll, whole, waits }) {
      await roll('likes', { image: 'social/likes:30', replicas: 2 });
      await roll('shares', { image: 'social/shares:8-exit2', replicas: 1 });
      await whole('likes');
      await waits('shares', 'CrashLoopBackOff');
    },
  },
];
