const shortOf: ReadonlyMap<string, string> = new Map([
  ['prod', 'production'],
  ['prd', 'production'],
  ['live', 'production'],
  ['stage', 'staging'],
  ['stg', 'staging'],
  ['dev', 'development'],
]);

/** Whether two names are of one environment, as people write them. One that is not said may be the same. */
export function isSameEnvironment(one: string | null, other: string | null): boolean {
  const plain = (name: string): string => shortOf.get(name.toLowerCase()) ?? name.toLowerCase();
  return one === null || other === null || plain(one) === plain(other);
}

/** All that an environment may be called, in lower case. */
export function environmentNames(name: string): readonly string[] {
  const plain = shortOf.get(name.toLowerCase()) ?? name.toLowerCase();
  return [plain, ...[...shortOf].flatMap(([short, whole]) => (whole === plain ? [short] : []))];
}

/** Under which label names an alert says its environment, as `snake_case`. */
export const ENVIRONMENT_LABELS: readonly string[] = [
  'environment',
  'env',
  'stage',
  'deployment_environment',
];
