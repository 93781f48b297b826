import { clusterFaults } from './kubernetes-faults.ts';
import { clusterLooks } from './kubernetes-looks.ts';
import { inClusters } from './kubernetes-scene.ts';

export const kubernetesCases = inClusters([...clusterFaults, ...clusterLooks]);
