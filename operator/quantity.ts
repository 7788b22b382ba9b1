/** Amounts in Kubernetes notation, printed as Kubernetes prints them, so that a value is read back as it was sent. */

const UNITS: Readonly<Record<string, number>> = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
};

const SHAPE = /^(\d+)([KMGT]i|[kMGT])?$/;

/** A JavaScript number represents every amount below this one exactly. */
export const BYTES_END = '8192Ti';

/** The bytes of a quantity such as 1Gi or 500M. */
export function parseBytes(amount: string): number {
  const bytes = readBytes(amount);
  if (bytes === undefined) throw new Error(`'${amount}' is not an amount of memory`);
  return bytes;
}

/** Undefined if it is no quantity, or if no number represents it exactly. */
export function readBytes(amount: string): number | undefined {
  const [, digits = '', unit = ''] = SHAPE.exec(amount) ?? [];
  const bytes = Number(digits) * (UNITS[unit] ?? 1);
  return digits !== '' && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** `1024Mi` becomes `1Gi`: the largest unit of the same family that gives a whole number. */
export function printBytes(amount: string): string {
  const bytes = parseBytes(amount);
  const family = amount.endsWith('i') ? ['Ti', 'Gi', 'Mi', 'Ki'] : ['T', 'G', 'M', 'k'];
  const unit = family.find((each) => bytes % (UNITS[each] ?? 1) === 0);
  return unit === undefined ? String(bytes) : `${bytes / (UNITS[unit] ?? 1)}${unit}`;
}

/** `2000m` becomes `2`. */
export function printCpu(amount: string): string {
  const [, digits = '0', milli] = /^(\d+)(m?)$/.exec(amount) ?? [];
  if (milli === '') return String(Number(digits));
  return Number(digits) % 1000 === 0 ? String(Number(digits) / 1000) : `${Number(digits)}m`;
}
