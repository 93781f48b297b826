import { found } from '../expected.ts';
import {
  behave,
  condition,
  type Fields,
  failsToMake,
  isPending,
  type KubernetesCase,
  limits,
  quota,
  service,
  wasKilledForMemory,
  why,
} from './kubernetes-scene.ts';

/** What is wrong, and can be told. */
export const clusterFaults: readonly KubernetesCase[] = [
  {
    id: 'kubernetes-bad-image-tag',
    title: 'A new version of the cart dies at its start',
    runbook: 'kubernetes-bad-rollout',
    namespace: 'store',
    beside: { prices: 'store/prices:11.2' },
    alert: [
      'KubeDeploymentRolloutStuck',
      'Rollout of deployment store/cart is not progressing',
      { deployment: 'cart' },
    ],
    expected: found('Revision 2 of cart, image 5.1.0-crash, dies at its start; revision 1 serves.', [
      ['cart'],
      ['5.1.0-crash'],
    ]),
    looks: [why('store', 'cart')],
    async cause({ roll, whole, waits }) {
      await roll('cart', { image: 'store/cart:5.0.3', replicas: 3 });
      await whole('cart');
      await roll('cart', { image: 'store/cart:5.1.0-crash', replicas: 3 });
      await waits('cart', 'CrashLoopBackOff');
    },
  },
  {
    id: 'kubernetes-emptied-variable',
    title: 'A variable was emptied with a new revision',
    runbook: 'kubernetes-crash-loop',
    namespace: 'finance',
    beside: { invoices: 'finance/invoices:2', mailer: 'finance/mailer:1.9' },
    alert: ['KubePodCrashLooping', 'A pod of finance/ledger is in a crash loop', { deployment: 'ledger' }],
    severity: 'critical',
    expected: found('BANK_URL of ledger was emptied with revision 2.', [['ledger'], ['BANK_URL']]),
    async cause({ roll, whole, waits }) {
      const image = 'finance/ledger:7.4-needsBANK_URL';
      await roll('ledger', {
        image,
        container: { env: [{ name: 'BANK_URL', value: 'https://bank.example' }] },
      });
      await whole('ledger');
      await roll('ledger', { image, container: { env: [{ name: 'BANK_URL', value: '' }] } });
      await waits('ledger', 'CrashLoopBackOff');
    },
  },
  {
    id: 'kubernetes-image-not-there',
    title: 'A new revision names an image that does not exist',
    runbook: 'kubernetes-image-pull',
    namespace: 'media',
    beside: { thumbs: 'media/thumbs:3' },
    alert: ['KubePodImagePullBackOff', 'Image of media/player cannot be pulled', { deployment: 'player' }],
    expected: found('The image player:9.9-missing of revision 2 is not in its registry.', [
      ['player'],
      ['9.9-missing'],
    ]),
    async cause({ roll, whole, waits }) {
      await roll('player', { image: 'media/player:9.8' });
      await whole('player');
      await roll('player', { image: 'media/player:9.9-missing' });
      await waits('player', 'ImagePullBackOff');
    },
  },
  {
    id: 'kubernetes-registry-refuses',
    title: 'The registry refuses the image of a first revision',
    runbook: 'kubernetes-image-pull',
    namespace: 'partners',
    beside: { portal: 'partners/portal:4.1' },
    alert: ['PodErrImagePull', 'Image of partners/importer cannot be pulled', { deployment: 'importer' }],
    expected: found('The registry refuses the image of importer.', [['importer'], ['refuse', 'denied']]),
    async cause({ roll, waits }) {
      await roll('importer', { image: 'vendor/importer:1-private', replicas: 1 });
      await waits('importer', 'ImagePullBackOff');
    },
  },
  {
    id: 'kubernetes-key-missing',
    title: 'A config map lacks a key that a new revision wants',
    runbook: 'kubernetes-missing-config',
    namespace: 'travel',
    beside: { maps: 'travel/maps:12' },
    alert: [
      'KubeContainerConfigError',
      'A container of travel/booking cannot be created',
      { deployment: 'booking' },
    ],
    expected: found('Config map booking-settings has no key currency.', [['booking-settings'], ['currency']]),
    async cause({ apply, roll, whole, waits, namespace }) {
      await apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'booking-settings', namespace },
        data: { locale: 'de', retries: '3' },
      });
      const from = (key: string) => ({
        name: key.toUpperCase(),
        valueFrom: { configMapKeyRef: { name: 'booking-settings', key } },
      });
      await roll('booking', { image: 'travel/booking:3.0', container: { env: [from('locale')] } });
      await whole('booking');
      await roll('booking', {
        image: 'travel/booking:3.1',
        container: { env: [from('locale'), from('currency')] },
      });
      await waits('booking', 'CreateContainerConfigError');
    },
  },
  {
    id: 'kubernetes-config-map-gone',
    title: 'A workload starts with a config map that nobody made',
    runbook: 'kubernetes-missing-config',
    namespace: 'labs',
    beside: { notebook: 'labs/notebook:0.4' },
    alert: ['PodCreateContainerConfigError', 'CreateContainerConfigError in labs', { deployment: 'trainer' }],
    expected: found('Config map trainer-flags is not there.', [
      ['trainer-flags'],
      ['not there', 'not found', 'missing'],
    ]),
    async cause({ roll, waits }) {
      const env = [{ name: 'MODE', valueFrom: { configMapKeyRef: { name: 'trainer-flags', key: 'mode' } } }];
      await roll('trainer', { image: 'labs/trainer:2', replicas: 1, container: { env } });
      await waits('trainer', 'CreateContainerConfigError');
    },
  },
  {
    id: 'kubernetes-limit-lowered',
    title: 'A memory limit was lowered below what is used',
    runbook: 'kubernetes-out-of-memory',
    namespace: 'catalog',
    beside: { images: 'catalog/images:8' },
    alert: ['KubeContainerOOMKilled', 'A container of catalog/index was OOMKilled', { deployment: 'index' }],
    severity: 'critical',
    expected: found('The memory limit of index was lowered from 512Mi to 128Mi.', [
      ['index'],
      ['512Mi'],
      ['128Mi'],
    ]),
    async cause({ roll, whole, until: seen, pods }) {
      const limit = (memory: string) => ({ resources: { requests: { memory: '64Mi' }, limits: { memory } } });
      await roll('index', { image: 'catalog/index:6-uses300Mi', replicas: 1, container: limit('512Mi') });
      await whole('index');
      await roll('index', { image: 'catalog/index:6-uses300Mi', replicas: 1, container: limit('128Mi') });
      await seen('index is killed for memory', () => wasKilledForMemory(pods('index')));
    },
  },
  {
    id: 'kubernetes-leaks',
    title: 'A workload is killed for memory again and again, and nothing was changed',
    runbook: 'kubernetes-out-of-memory',
    namespace: 'reports',
    beside: { charts: 'reports/charts:5' },
    alert: ['ContainerOomKill', 'reports/renderer: out of memory', { deployment: 'renderer' }],
    expected: found('renderer needs more memory than its limit of 256Mi.', [
      ['renderer'],
      ['256Mi', 'limit', 'memory'],
    ]),
    async cause({ roll, until: seen, pods }) {
      const container = { resources: { limits: { memory: '256Mi' } } };
      await roll('renderer', { image: 'reports/renderer:1.2-leak', replicas: 1, container });
      await seen('renderer is killed for memory', () => wasKilledForMemory(pods('renderer')));
    },
  },
  {
    id: 'kubernetes-quota-of-pods',
    title: 'A quota lets no more pods be made',
    runbook: 'kubernetes-quota',
    namespace: 'search-eu',
    beside: {},
    alert: [
      'KubeQuotaFullyUsed',
      'Namespace search-eu has used up its quota',
      { resourcequota: 'search-pods' },
    ],
    expected: found('Quota search-pods lets no more pods of crawler be made.', [
      ['search-pods'],
      ['crawler'],
    ]),
    looks: [limits('search-eu')],
    async cause({ apply, roll, until: seen, cluster, namespace }) {
      await apply(quota(namespace, 'search-pods', { pods: '2' }));
      await roll('crawler', { image: 'search/crawler:3', replicas: 4 });
      await seen('crawler is refused pods', () => failsToMake(cluster, namespace, 'crawler'));
    },
  },
  {
    id: 'kubernetes-quota-of-memory',
    title: 'A workload is one pod short for a quota of memory',
    runbook: 'kubernetes-workload-unhealthy',
    namespace: 'events',
    beside: {},
    alert: [
      'KubeDeploymentReplicasMismatch',
      'Deployment events/consumer has not matched the expected number of replicas',
      { deployment: 'consumer' },
    ],
    expected: found('Quota team-events lets no more pods of consumer be made.', [
      ['team-events'],
      ['consumer'],
    ]),
    async cause({ apply, roll, until: seen, cluster, namespace }) {
      await apply(quota(namespace, 'team-events', { 'requests.memory': '700Mi' }));
      const container = { resources: { requests: { memory: '300Mi' }, limits: { memory: '300Mi' } } };
      await roll('consumer', { image: 'events/consumer:14', replicas: 3, container });
      await seen('consumer is refused pods', () => failsToMake(cluster, namespace, 'consumer'));
    },
  },
  {
    id: 'kubernetes-no-room',
    title: 'No node has the CPUs that a pod asks for',
    runbook: 'kubernetes-unschedulable',
    namespace: 'batch',
    beside: { queue: 'batch/queue:2.2' },
    alert: ['KubePodPending', 'A pod of batch/solver is pending', { deployment: 'solver' }],
    expected: found('No node has the 9 CPUs that solver asks for.', [['solver'], ['cpu', 'room']]),
    async cause({ roll, until: seen, pods }) {
      await roll('solver', {
        image: 'batch/solver:1',
        replicas: 1,
        container: { resources: { requests: { cpu: '9' } } },
      });
      await seen('solver cannot be placed', () => isPending(pods('solver')));
    },
  },
  {
    id: 'kubernetes-no-such-node',
    title: 'A pod wants a node with a label that none has',
    runbook: 'kubernetes-unschedulable',
    namespace: 'vision',
    beside: { labels: 'vision/labels:7' },
    alert: ['PodUnschedulable', 'A pod of vision/detector is unschedulable', { deployment: 'detector' }],
    expected: found('No node has the label that detector wants.', [
      ['detector'],
      ['selector', 'affinity', 'label'],
    ]),
    async cause({ roll, until: seen, pods }) {
      await roll('detector', {
        image: 'vision/detector:2',
        replicas: 1,
        pod: { nodeSelector: { gpu: 'a100' } },
      });
      await seen('detector cannot be placed', () => isPending(pods('detector')));
    },
  },
  {
    id: 'kubernetes-all-cordoned',
    title: 'All nodes were left cordoned',
    runbook: 'kubernetes-unschedulable',
    namespace: 'chat',
    beside: { presence: 'chat/presence:1' },
    alert: ['KubernetesPodPending', 'A pod of chat/relay is pending', { deployment: 'relay' }],
    expected: found('The nodes are cordoned.', [['cordon']]),
    async cause({ apply, roll, until: seen, pods, cluster }) {
      for (const node of cluster.list('Node')) {
        const { status: _, ...rest } = node as unknown as { readonly status: unknown; readonly spec: Fields };
        await apply({ ...rest, spec: { ...rest.spec, unschedulable: true } });
      }
      await roll('relay', { image: 'chat/relay:3', replicas: 1 });
      await seen('relay cannot be placed', () => isPending(pods('relay')));
    },
  },
  {
    id: 'kubernetes-node-away',
    title: 'The kubelet of a node does not report',
    runbook: 'kubernetes-node-not-ready',
    namespace: 'games',
    beside: { lobby: 'games/lobby:10' },
    alert: ['KubeNodeNotReady', 'node-2 is not ready', { node: 'node-2' }],
    severity: 'critical',
    expected: found('The kubelet of node-2 does not report.', [
      ['node-2'],
      ['kubelet', 'report', 'not ready'],
    ]),
    async cause({ until: seen, cluster, apply }) {
      await behave(apply, cluster, 'node-2', 'down');
      await seen(
        'node-2 is not ready',
        () => condition(cluster.object('Node', null, 'node-2'), 'Ready') !== 'True',
      );
    },
  },
  {
    id: 'kubernetes-disk-of-node',
    title: 'A node is short of disk and evicts',
    runbook: 'kubernetes-evicted',
    namespace: 'files',
    beside: { sync: 'files/sync:6' },
    alert: ['KubePodEvicted', 'Pods of files/store were evicted', { deployment: 'store' }],
    expected: found('Pods of store were evicted because their node was short of disk.', [
      ['store'],
      ['evict'],
      ['disk', 'short'],
    ]),
    async cause({ roll, whole, until: seen, pods, cluster, apply }) {
      await roll('store', { image: 'files/store:2', replicas: 2 });
      await whole('store');
      await behave(apply, cluster, pods('store')[0]?.spec?.nodeName ?? '', 'disk-pressure');
      await seen('a pod of store is evicted', () =>
        pods('store').some(({ status }) => status?.reason === 'Evicted'),
      );
    },
  },
  {
    id: 'kubernetes-selects-nothing',
    title: 'A service selects no pod',
    runbook: 'kubernetes-service-without-endpoints',
    namespace: 'forum',
    beside: {},
    alert: ['KubeServiceNoEndpoints', 'Service forum/threads has no endpoints', { service: 'threads' }],
    expected: found('The selector of service threads matches no pod.', [['threads'], ['select', 'match']]),
    async cause({ apply, roll, whole, namespace }) {
      await roll('threads', { image: 'forum/threads:1' });
      await whole('threads');
      await apply(service(namespace, 'threads', { app: 'thread' }));
    },
  },
  {
    id: 'kubernetes-none-ready-behind-service',
    title: 'No pod behind a service is ready',
    runbook: 'kubernetes-service-without-endpoints',
    namespace: 'radio',
    beside: { playlist: 'radio/playlist:3' },
    alert: ['ServiceWithoutEndpoints', 'Service radio/stream has no endpoints', { service: 'stream' }],
    severity: 'critical',
    expected: found('The pods behind service stream are not ready.', [
      ['stream'],
      ['ready', 'start', 'exit', 'end'],
    ]),
    async cause({ apply, roll, waits, namespace }) {
      await apply(service(namespace, 'stream', { app: 'stream' }));
      await roll('stream', { image: 'radio/stream:4-crash', replicas: 2 });
      await waits('stream', 'CrashLoopBackOff');
    },
  },
  {
    id: 'kubernetes-set-dies',
    title: 'A stateful set dies with a code of its own',
    runbook: 'kubernetes-crash-loop',
    namespace: 'streams',
    beside: { bridge: 'streams/bridge:2' },
    alert: ['KubePodCrashLooping', 'streams/broker-0 is in a crash loop', { pod: 'broker-0' }],
    severity: 'critical',
    expected: found('broker ends with code 23: its setting payments.endpoint is empty.', [
      ['broker'],
      ['23', 'payments.endpoint'],
    ]),
    async cause({ roll, waits }) {
      await roll('broker', { kind: 'StatefulSet', image: 'streams/broker:3.3-exit23', replicas: 1 });
      await waits('broker', 'CrashLoopBackOff');
    },
  },
];
