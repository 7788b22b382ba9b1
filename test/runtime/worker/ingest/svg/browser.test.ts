// Sanitized drawings in a browser without any protecting policy make no requests and run no scripts. The same attacks
// are shown to work before sanitizing, so that a pass is meaningful. Spec: What the service does (SVG).
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IngestRefusal } from '../../../../../runtime/worker/ingest/ingest-refusal.ts';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';
import { startBrowser } from '../../../../support/browser.ts';
import { attacks, disguises, handlers, whole } from '../../../../support/svg-attacks.ts';

const EVERYTHING = [
  ...Object.values(attacks).flat(),
  ...handlers.map(
    (name) => `<g ${name}="alert(1)"><rect width="9" height="9" ${name}="alert(1)"/></g>`,
  ),
];
/** The minimum number of attacks in the list that work in a current browser. */
const HARMFUL_MIN = 90;
/** Documents per page, each in a frame. */
const FRAMES = 40;
/** Fewer per page, since some attacks navigate the whole page away. */
const FEW_FRAMES = 8;

let browser: Browser;
/** The page of most tests: another one would be another process of Chromium. */
let page: Page;
let server: Server;
let origin: string;
const pages = new Map<string, string>();

beforeAll(async () => {
  browser = await startBrowser();
  page = await browser.newPage();
  server = createServer((request, response) => {
    const document = pages.get(request.url ?? '');
    const type = request.url?.endsWith('.html') === true ? 'text/html' : 'image/svg+xml';
    response.writeHead(document === undefined ? 404 : 200, {
      'content-type': `${type}; charset=utf-8`,
    });
    response.end(document);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await browser?.close();
  server?.close();
});

type Harm = { requests: string[]; scripts: number };

/** The number of drawings, each in a frame, that make a request or run a script. */
async function countHarmful(drawings: readonly string[]): Promise<number> {
  const harmed = new Set<Frame>();
  const note = (frame: Frame) => {
    const drawing = drawingOf(frame);
    if (drawing !== undefined) harmed.add(drawing);
  };
  const paths = drawings.map((drawing, index) => {
    pages.set(`/raw-${index}.svg`, drawing);
    return `/raw-${index}.svg`;
  });
  const known = new Set(paths.map((path) => origin + path));
  const own = await browser.newPage();
  own.on('request', (request) => {
    if (!known.has(request.url())) note(request.frame());
  });
  await own.exposeBinding('alert', ({ frame }) => note(frame));
  for (let start = 0; start < paths.length; start += FEW_FRAMES) {
    await own.goto('about:blank').catch(() => undefined);
    await open(own, '/raw.html', inFrames(paths.slice(start, start + FEW_FRAMES)));
  }
  await own.close();
  return harmed.size;
}

/** The frame of the drawing that a frame belongs to; undefined for the page itself. */
function drawingOf(frame: Frame): Frame | undefined {
  const parent = frame.parentFrame();
  if (parent === null) return undefined;
  return parent.parentFrame() === null ? frame : drawingOf(parent);
}

/** The URLs of the page and of its frames, which are not requested by a drawing. */
function ownUrls(path: string, document: string): Set<string> {
  return new Set([path, ...(document.match(FRAME_PATH) ?? [])].map((known) => origin + known));
}

/** Opens a document, and triggers events on all elements in it and its frames. */
async function open(on: Page, path: string, document: string): Promise<Harm> {
  pages.set(path, document);
  const harm: Harm = { requests: [], scripts: 0 };
  const own = ownUrls(path, document);
  const onRequest = (request: { url(): string }) => {
    if (!own.has(request.url())) harm.requests.push(request.url());
  };
  on.on('request', onRequest);
  on.removeAllListeners('dialog');
  on.on('dialog', (dialog) => {
    harm.scripts += 1;
    dialog.dismiss().catch(() => undefined);
  });
  await on.goto(origin + path, { waitUntil: 'load' }).catch(() => undefined);
  for (const frame of on.frames()) await frame.evaluate(TOUCH_ALL).catch(() => undefined);
  await on.evaluate(NEXT_PAINT).catch(() => undefined);
  on.off('request', onRequest);
  return harm;
}

/** Runs in each frame. */
const TOUCH_ALL = `
  for (const element of document.querySelectorAll('*')) {
    for (const kind of ['click', 'mouseover', 'mousedown', 'mouseup', 'mousemove', 'focus', 'focusin', 'keydown', 'wheel', 'copy']) {
      element.dispatchEvent(new MouseEvent(kind, { bubbles: true }));
    }
  }`;

/** Runs in the page only, since a frame that failed to load is never painted. */
const NEXT_PAINT = 'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))';

const FRAME_PATH = /(?<=<iframe src=")[^"]+/g;

const inFrames = (paths: readonly string[]) =>
  inHtml(paths.map((path) => `<iframe src="${path}"></iframe>`).join(''));

const inHtml = (svg: string) => `<!doctype html><title>a page</title><body>${svg}</body>`;

describe('a browser without a content security policy', () => {
  it('is harmed by the attacks before they are sanitized', async () => {
    const drawings = EVERYTHING.map((vector) => whole(vector, 'width="90" height="90"'));
    expect(await countHarmful(drawings)).toBeGreaterThan(HARMFUL_MIN);
  }, 300_000);

  it('makes no request and runs no script from sanitized attacks', async () => {
    expect(EVERYTHING.length).toBeGreaterThan(150);
    const sanitized = EVERYTHING.map(
      (vector) => sanitizeSvg(Buffer.from(whole(vector, 'width="90" height="90"'))).vector,
    );
    // What is left of many attacks is the same, to the byte.
    const documents = [...new Set(sanitized)].flatMap((clean, index) => {
      pages.set(`/${index}.svg`, clean).set(`/${index}.html`, inHtml(clean));
      return [`/${index}.svg`, `/${index}.html`];
    });
    const harmed: string[] = [];
    for (let start = 0; start < documents.length; start += FRAMES) {
      const some = documents.slice(start, start + FRAMES);
      const { requests, scripts } = await open(page, '/frames.html', inFrames(some));
      expect(page.frames()).toHaveLength(1 + some.length);
      if (requests.length > 0 || scripts > 0) harmed.push(`${some}: ${requests} ${scripts}`);
    }
    expect(harmed).toEqual([]);
  }, 300_000);

  it('is observed making requests and running scripts inside frames', async () => {
    pages.set('/attack.svg', whole('<script>alert(1)</script>'));
    pages.set('/image.svg', whole('<image href="/elsewhere.png" width="9" height="9"/>'));
    const paths = ['/attack.svg', '/image.svg'];
    const harm = await open(page, '/frames.html', inFrames(paths));
    expect(harm).toEqual({ requests: [`${origin}/elsewhere.png`], scripts: 1 });
  });

  it.each(disguises)(
    'makes no request and runs no script from a sanitized drawing in disguise: %s',
    async (_, bytes) => {
      const clean = cleanOf(bytes);
      if (clean === undefined) return;
      const harm = await open(page, '/disguised.svg', clean);
      expect(harm).toEqual({ requests: [], scripts: 0 });
    },
  );
});

/** Undefined if the drawing is rejected. */
function cleanOf(bytes: Buffer): string | undefined {
  try {
    return sanitizeSvg(bytes).vector;
  } catch (error) {
    if (error instanceof IngestRefusal) return undefined;
    throw error;
  }
}
