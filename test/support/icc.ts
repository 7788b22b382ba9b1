/** Builds ICC profiles with a matrix and a gamma, or with a gamma only. Colorants are relative to D50. */

type Xyz = readonly [number, number, number];
export type MatrixProfile = { red: Xyz; green: Xyz; blue: Xyz; gamma: number };

export const adobeRgb: MatrixProfile = {
  red: [0.60974, 0.31111, 0.01947],
  green: [0.20528, 0.62567, 0.06087],
  blue: [0.14919, 0.06322, 0.74457],
  gamma: 563 / 256,
};
export const proPhoto: MatrixProfile = {
  red: [0.79767, 0.28804, 0],
  green: [0.13519, 0.71187, 0],
  blue: [0.03135, 0.00009, 0.82491],
  gamma: 1.8,
};
export const displayP3: MatrixProfile = {
  red: [0.51512, 0.2412, -0.00105],
  green: [0.29198, 0.69225, 0.04189],
  blue: [0.1571, 0.06657, 0.78407],
  gamma: 2.2,
};

const D50: Xyz = [0.9642, 1, 0.82491];

export function printMatrixProfile({ red, green, blue, gamma }: MatrixProfile): Buffer {
  return printProfile('RGB ', {
    rXYZ: xyz(red),
    gXYZ: xyz(green),
    bXYZ: xyz(blue),
    rTRC: curve(gamma),
    gTRC: curve(gamma),
    bTRC: curve(gamma),
  });
}

export function printGreyProfile(gamma: number): Buffer {
  return printProfile('GRAY', { kTRC: curve(gamma) });
}

const OF_SCREENS = { kind: 'mntr', connection: 'XYZ ', version: 0x0210_0000 };

export function printProfile(
  space: string,
  colors: Record<string, Buffer>,
  { kind, connection, version } = OF_SCREENS,
): Buffer {
  const tags = Object.entries({
    desc: described('made of numbers'),
    cprt: Buffer.concat([Buffer.from('text\0\0\0\0none\0', 'latin1'), Buffer.alloc(3)]),
    wtpt: xyz(D50),
    ...colors,
  });
  const header = Buffer.alloc(128);
  header.writeUInt32BE(version, 8);
  header.write(`${kind}${space}${connection}`, 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  for (const [at, value] of D50.entries()) header.writeInt32BE(fixed(value), 68 + at * 4);
  const table = Buffer.alloc(4 + tags.length * 12);
  table.writeUInt32BE(tags.length, 0);
  let start = header.length + table.length;
  for (const [index, [name, bytes]] of tags.entries()) {
    table.write(name, 4 + index * 12, 'latin1');
    table.writeUInt32BE(start, 8 + index * 12);
    table.writeUInt32BE(bytes.length, 12 + index * 12);
    start += bytes.length;
  }
  header.writeUInt32BE(start, 0);
  return Buffer.concat([header, table, ...tags.map(([, bytes]) => bytes)]);
}

function xyz(values: Xyz): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.write('XYZ ', 'latin1');
  for (const [at, value] of values.entries()) bytes.writeInt32BE(fixed(value), 8 + at * 4);
  return bytes;
}

function curve(gamma: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.write('curv', 'latin1');
  bytes.writeUInt32BE(1, 8);
  bytes.writeUInt16BE(Math.round(gamma * 256), 12);
  return bytes;
}

function described(text: string): Buffer {
  const bytes = Buffer.alloc(112);
  bytes.write('desc', 'latin1');
  bytes.writeUInt32BE(text.length + 1, 8);
  bytes.write(text, 12, 'latin1');
  return bytes;
}

function fixed(value: number): number {
  return Math.round(value * 65_536);
}
