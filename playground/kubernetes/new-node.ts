import type { KubernetesObject } from '@kubernetes/client-node';

/** A node as it comes, with four cores and 8 GiB, and the lease of its kubelet. */
export function newNode(number: number): readonly KubernetesObject[] {
  const name = `node-${number}`;
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'topology.kubernetes.io/zone': `zone-${'abc'[(number - 1) % 3]}`,
      },
    },
    spec: { podCIDR: `10.244.${number}.0/24` },
    status: {
      capacity: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '100Gi' },
      allocatable: { cpu: '3800m', memory: '7Gi', pods: '110', 'ephemeral-storage': '90Gi' },
      addresses: [
        { type: 'InternalIP', address: `192.168.0.${10 + number}` },
        { type: 'Hostname', address: name },
      ],
      nodeInfo: {
        architecture: 'amd64',
        bootID: `playground-boot-${number}`,
        containerRuntimeVersion: 'containerd://1.7.27',
        kernelVersion: '6.1.0-32-amd64',
        kubeProxyVersion: 'v1.32.4',
        kubeletVersion: 'v1.32.4',
        machineID: `playground-machine-${number}`,
        operatingSystem: 'linux',
        osImage: 'Debian GNU/Linux 12 (bookworm)',
        systemUUID: `playground-system-${number}`,
      },
    },
  };
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-node-lease' },
    spec: { holderIdentity: name, leaseDurationSeconds: 40 },
  };
  return [node, lease];
}
