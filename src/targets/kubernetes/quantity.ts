const UNITS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** `250m`, `1.5`, `512Mi`, `1e3` as a number; null when it is none. https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
export function quantity(text: string | undefined): number | null {
  const [, number, exponent = '', unit = ''] =
    /^([+-]?[\d.]+)(e[+-]?\d+)?([a-zA-Z]*)$/.exec(text ?? '') ?? [];
  const factor = UNITS[unit];
  const value = Number(`${number ?? ''}${exponent}`);
  return number === undefined || factor === undefined || Number.isNaN(value) ? null : value * factor;
}
