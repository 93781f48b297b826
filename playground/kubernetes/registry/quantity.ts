const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
  Ei: 1024 ** 6,
};

/** `500m`, `1Gi` as a number of cores, bytes, pieces. */
export function quantity(text: string | number | undefined): number {
  const [, number = '0', unit = ''] =
    /^([^a-zA-Z]*(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(String(text ?? 0)) ?? [];
  return Number(number) * (factors[unit] ?? 1);
}

export const isQuantity = (text: string | number): boolean =>
  /^[+-]?(\d+(\.\d*)?|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/.test(String(text));

const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti'];

/** In the form in which the server writes a sum: memory and storage in powers of 1024, the rest as cores or pieces. */
export function formatQuantity(name: string, value: number): string {
  if (!/memory|storage/.test(name)) {
    return Number.isInteger(value) ? String(value) : `${Math.round(value * 1000)}m`;
  }
  let unit = 0;
  let amount = value;
  while (amount !== 0 && amount % 1024 === 0 && unit < binary.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${amount}${binary[unit]}`;
}
