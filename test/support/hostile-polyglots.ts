/** Polyglot files: valid images that are also scripts, archives or documents. */
import { gzipSync } from 'node:zlib';
import type { HostileFile } from './hostile-corpus.ts';
import type { Source } from './hostile-sources.ts';
import { pngChunk } from './pictures.ts';

const SCRIPT = '<script>alert(1)</script>';
const HTML = Buffer.from(`<!doctype html><html><body>${SCRIPT}</body></html>`);
const PDF = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj',
);
const PHP = Buffer.from('<?php system($_GET["c"]); __halt_compiler();');
const SVG = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`);

/** An archive that stays valid when it is appended to any file. */
function zip(): Buffer {
  const name = Buffer.from('x.js');
  const body = Buffer.from('alert(1)');
  const local = Buffer.alloc(30);
  local.write('PK\u0003\u0004', 'latin1');
  local.writeUInt32LE(body.length, 18);
  local.writeUInt32LE(body.length, 22);
  local.writeUInt16LE(name.length, 26);
  const central = Buffer.alloc(46);
  central.write('PK\u0001\u0002', 'latin1');
  central.writeUInt16LE(name.length, 28);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(1, 8);
  return Buffer.concat([local, name, body, central, name, end]);
}

const payloads: Readonly<Record<string, Buffer>> = {
  HTML,
  PDF,
  PHP,
  SVG,
  ZIP: zip(),
  gzip: gzipSync(HTML),
  JavaScript: Buffer.from('*/=1;alert(1)/*'),
  'an ELF program': Buffer.from('7f454c460201010000000000000000000200', 'hex'),
};

export function* polyglots(sources: readonly Source[]): Generator<HostileFile> {
  const types = new Map(sources.toReversed().map((source) => [source.content_type, source]));
  for (const source of types.values()) {
    for (const [payload, bytes] of Object.entries(payloads)) {
      yield file(source, `${payload} behind it`, Buffer.concat([source.bytes, bytes]));
      yield file(source, `${payload} in front of it`, Buffer.concat([bytes, source.bytes]));
      const inside = hidden(source, bytes);
      if (inside !== undefined) yield file(source, `${payload} in it`, inside);
    }
    for (const other of types.values()) {
      if (other === source) continue;
      yield file({ ...source, content_type: other.content_type }, `as ${other.name}`, source.bytes);
      yield file(source, `${other.name} behind it`, Buffer.concat([source.bytes, other.bytes]));
    }
  }
  yield* scriptPictures();
}

/** Hides the payload in a comment. Returns undefined for formats without comments. */
function hidden({ content_type, bytes }: Source, payload: Buffer): Buffer | undefined {
  if (content_type === 'image/jpeg') {
    const head = Buffer.from([0xff, 0xfe, 0, 0]);
    head.writeUInt16BE(payload.length + 2, 2);
    return Buffer.concat([bytes.subarray(0, 2), head, payload, bytes.subarray(2)]);
  }
  if (content_type === 'image/png') {
    const chunk = pngChunk('tEXt', Buffer.concat([Buffer.from('Comment\0'), payload]));
    return Buffer.concat([bytes.subarray(0, 33), chunk, bytes.subarray(33)]);
  }
  if (content_type === 'image/gif') {
    const comment = Buffer.concat([
      Buffer.from([0x21, 0xfe, payload.length]),
      payload,
      Buffer.from([0]),
    ]);
    return Buffer.concat([bytes.subarray(0, -1), comment, bytes.subarray(-1)]);
  }
  if (content_type === 'image/svg+xml') {
    const at = bytes.indexOf('>') + 1;
    return Buffer.concat([bytes.subarray(0, at), payload, bytes.subarray(at)]);
  }
  return undefined;
}

/** Images whose header also begins a valid script. */
function* scriptPictures(): Generator<HostileFile> {
  const gif = Buffer.from('GIF89a/*\0\0\0\0\0,\0\0\0\0*/=1;alert(1);//');
  yield { family: 'polyglots', name: 'GIF as script', content_type: 'image/gif', bytes: gif };
  const bmp = Buffer.from('BM/*\0\0\0\0\0\0\0\0\0\0*/=1;alert(1);//');
  yield { family: 'polyglots', name: 'BMP as script', content_type: 'image/bmp', bytes: bmp };
  const jpeg = Buffer.concat([
    Buffer.from('ffd8ffe02f2a4a464946000101010048', 'hex'),
    Buffer.alloc(0x2f2a - 14),
    Buffer.from('*/=alert(1);/*'),
  ]);
  yield { family: 'polyglots', name: 'JPEG as script', content_type: 'image/jpeg', bytes: jpeg };
}

function file({ name, content_type }: Source, how: string, bytes: Buffer): HostileFile {
  return { family: 'polyglots', name: `${name}, ${how}`, content_type, bytes };
}
