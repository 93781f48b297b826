// A file of its own, so that the build can put into its place what this class needs of the library, and nothing else.
export { KubeConfig } from '@kubernetes/client-node';
