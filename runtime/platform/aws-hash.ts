/** The hash constructor that the AWS signers use: plain or keyed. Their own passes keys to Node in the slowest way. */
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { keyObjectOf } from '../core/signing/hmac.ts';

type Data = string | ArrayBuffer | ArrayBufferView;

export class Sha256 {
  readonly #begin: () => Hash | Hmac;
  #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#begin = () => (secret === undefined ? createHash('sha256') : keyed(secret));
    this.#hash = this.#begin();
  }

  update(chunk: Data): void {
    this.#hash.update(bytesOf(chunk));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#begin();
  }
}

function keyed(secret: Data): Hmac {
  return createHmac('sha256', typeof secret === 'string' ? secret : keyObjectOf(bytesOf(secret)));
}

function bytesOf(data: Data): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
