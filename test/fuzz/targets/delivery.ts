/** The parts of an image request: path, transform chain, query, and the headers that are read. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { printContentRange, readWantedBytes } from '../../../runtime/core/delivery/byte-range.ts';
import { parseChain, printChain, readAllowedChains } from '../../../runtime/core/delivery/chain.ts';
import {
  SLASHED_CHAIN,
  SLASHED_CHAIN_TWICE,
} from '../../../runtime/core/delivery/chain-pattern.ts';
import { contentDisposition } from '../../../runtime/core/delivery/content-disposition.ts';
import { isNotModified } from '../../../runtime/core/delivery/headers.ts';
import { planRender, printPlan } from '../../../runtime/core/delivery/plan.ts';
import {
  parseDeliveryUrl,
  printDeliveryPath,
  printDeliveryUrl,
} from '../../../runtime/core/delivery/url.ts';
import { transformChain } from '../../../runtime/core/resources/chain.ts';
import { hostOf } from '../../../runtime/delivery/protocol.ts';
import { protocolFault } from '../../../runtime/platform/http/protocol-fault.ts';
import { parseTraceHeaders } from '../../../runtime/platform/trace-context.ts';
import { photo } from '../../support/planned.ts';
import { type Target, text } from '../target.ts';

const chains = [
  'resize/640x480/fit/format/webp/quality/70',
  'crop/10,20,300,400/resize/200x/smart',
  'resize/x8192/crop',
  'resize/100x100/fit/fill',
  'format/jpg',
  'watermark:wm_01kbr40c2m6r8n4t7y9w3x5vqh/preset:thumb.2',
  'watermark/quality/100/format/avif',
];
const PRESETS = { thumb: 'resize/200x200', 'thumb.2': 'crop/0,0,10,10' };
const slashed = new RegExp(SLASHED_CHAIN);
const slashedTwice = new RegExp(SLASHED_CHAIN_TWICE);

const chain = text({
  name: 'transform-chain',
  seeds: () => chains,
  run(input) {
    const parsed = parseChain(input);
    const isPlain = slashed.test(`/${input}`) && !slashedTwice.test(`/${input}`);
    assert.equal(isPlain, parsed !== undefined, 'the pattern of clusters judges it otherwise');
    if (parsed === undefined) return undefined;
    const printed = printChain(parsed);
    assert.deepEqual(parseChain(printed), parsed);
    assert.equal(printChain(parseChain(printed) ?? {}), printed);
    const plan = planRender({ source: photo, chain: parsed, watermark: null });
    if (plan !== undefined)
      assert.ok(plan.output.width >= 1 && plan.output.height >= 1, printPlan(plan));
    return parsed;
  },
});

const chainList = text({
  name: 'chain-of-a-body',
  seeds: () => chains,
  run(input) {
    const read = transformChain.safeParse(input);
    if (!read.success) assert.ok(read.error.issues.every(({ message }) => message !== ''));
    const allowed = readAllowedChains({
      allowed_transform_chains: [input],
      resolution_presets: PRESETS,
    });
    assert.ok((allowed?.size ?? 0) <= 1);
    return read.data;
  },
});

const SIGNED = '?exp=1800000000&kid=kid_1&sig=AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE';

const path = text({
  name: 'delivery-path',
  seeds: () => [
    ...chains.map((each) => `/${each}/f/photo.jpg`),
    '/originals/f/photo.jpg',
    `/download/raw/f/a-b_c.1${SIGNED}`,
    `/format/webp/f/f/f${SIGNED}`,
  ],
  run(input) {
    const url = parseDeliveryUrl(input);
    if (url === undefined) return undefined;
    assert.equal(printDeliveryPath(url.target), url.path);
    const printed = printDeliveryUrl({ scheme: 'https', host: 'a.example', ...url });
    const again = new URL(printed);
    assert.equal(again.pathname, url.path, 'a URL parser reads another path');
    assert.equal(again.pathname + again.search, input, 'one image has two spellings');
    return url;
  },
});

const SIZES = [0, 1, 500, 2 ** 40];

const range = text({
  name: 'range',
  seeds: () => ['bytes=0-499', 'bytes=-1', 'bytes=500-', 'bytes=0-0,5-9', '"abc"\nbytes=1-2'],
  run(input) {
    const [range, ifRange] = input.split('\n').toReversed();
    const facts = SIZES.map((size_bytes) => {
      const wanted = readWantedBytes({ range, ifRange }, { size_bytes, etag: '"abc"' });
      if (wanted === 'whole') return wanted;
      const printed = printContentRange(wanted, size_bytes);
      assert.match(printed, /^bytes (\*|\d+-\d+)\/\d+$/);
      if (wanted === 'beyond') return wanted;
      assert.ok(
        wanted.start >= 0 && wanted.start <= wanted.end && wanted.end < size_bytes,
        printed,
      );
      return 'part';
    });
    return facts.every((fact) => fact === 'whole') ? undefined : facts;
  },
});

const ETAG = '"0123456789abcdefghijklmnopqrstuv"';

const notModified = text({
  name: 'if-none-match',
  seeds: () => [ETAG, `W/${ETAG}`, `"x", W/${ETAG}`, '*', '"a" "b"'],
  run(input) {
    const is = isNotModified(input, ETAG);
    if (is) assert.ok(input.trim() === '*' || input.includes(ETAG));
    return is ? is : undefined;
  },
});

const host = text({
  name: 'host-and-framing',
  seeds: () => [
    'GET /a/f/b HTTP/1.1\nHost: shop.img.example:8081',
    'GET / HTTP/1.1\nhost: [::1]:80\ntransfer-encoding: chunked',
    'OPTIONS * HTTP/1.1\nhost: 10.0.0.1\nx-request-id: abc-1\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ],
  run(input) {
    const request = requestOf(input);
    const carried = parseTraceHeaders(request.headers);
    assert.match(carried.request_id ?? 'a', /^[\x21-\x7e]{1,128}$/);
    if (protocolFault(request) !== undefined) return undefined;
    const found = hostOf(request);
    assert.match(found, /^[a-z0-9._:[\]-]+$/);
    assert.equal(found, found.toLowerCase());
    return { found, ...carried };
  },
});

/** Builds a request as Node's HTTP parser would, with the headers that our code reads. */
function requestOf(input: string): IncomingMessage {
  const [first = '', ...lines] = input.split('\n');
  const [method = '', url = ''] = first.split(' ');
  const pairs = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(':');
    return [name, value.join(':').trim()];
  });
  const request = new IncomingMessage(new Socket());
  const headers = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
  return Object.assign(request, {
    method,
    url,
    headers,
    rawHeaders: pairs.flat(),
    httpVersionMajor: 1,
  });
}

const LENGTH_MAX = 4000;

const disposition = text({
  name: 'content-disposition',
  seeds: () => [
    'IMG 0001.JPG',
    'Übersicht (1).tiff',
    '..\\..\\a"b.png',
    '写真.webp',
    'a'.repeat(300),
  ],
  run(input) {
    const file = { content_type: 'image/png', file_slug: 'photo-1' };
    const header = contentDisposition({ ...file, original_filename: input });
    assert.match(header, /^[\x20-\x7e]+$/);
    assert.ok(header.length <= LENGTH_MAX);
    const [, encoded] = /filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]+)$/.exec(header) ?? [];
    if (encoded === undefined) return undefined;
    const name = decodeURIComponent(encoded);
    assert.match(name, /\.png$/);
    assert.ok(!/[\\/:*?"<>|\p{Cc}]/u.test(name), name);
    return header;
  },
});

export const deliveryTargets: readonly Target[] = [
  chain,
  chainList,
  path,
  range,
  notModified,
  host,
  disposition,
];
