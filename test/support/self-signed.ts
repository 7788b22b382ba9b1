/** A key and a self-signed certificate for one host name, for a test server and the clients that trust it. */
import { generateKeyPairSync, sign } from 'node:crypto';

export type SelfSigned = { key: string; cert: string };

type Flaws = {
  /** The years from and until which the certificate is valid, of this century. */
  years?: readonly [from: number, until: number];
  /** The name of another authority, which the certificate says that it is from. */
  issuer?: string;
};

/** Encodes an X.509 certificate (RFC 5280) as DER, because Node cannot create certificates. */
export function makeSelfSigned(
  host: string,
  { years: [from, until] = [20, 49], issuer }: Flaws = {},
): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(0x30);
  const algorithm = der(0x30, ECDSA_WITH_SHA256);
  const from_name = issuer === undefined ? name : commonName(issuer);
  const validity = der(0x30, time(`${from}0101000000Z`), time(`${until}0101000000Z`));
  const alternative = der(0x30, der(0x82, Buffer.from(host)));
  const extension = der(0x30, SUBJECT_ALT_NAME, TRUE, der(0x04, alternative));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ...[algorithm, from_name, validity, name],
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extension)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]);
  const certificate = der(0x30, body, algorithm, der(0x03, signature)).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');
const TRUE = Buffer.from('0101ff', 'hex');

const COMMON_NAME = Buffer.from('0603550403', 'hex');

function commonName(text: string): Buffer {
  return der(0x30, der(0x31, der(0x30, COMMON_NAME, der(0x0c, Buffer.from(text)))));
}

function time(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [length] : long)]), content]);
}
