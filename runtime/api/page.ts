/** What a handler returns whose answer is no JSON: a page, a part of one or a picture, with headers of its own. */
export class Page {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  /** The same, compressed. */
  readonly gzip: Uint8Array | null;

  constructor(page: { headers: Page['headers']; bytes: Uint8Array; gzip?: Uint8Array }) {
    this.headers = page.headers;
    this.bytes = page.bytes;
    this.gzip = page.gzip ?? null;
  }
}
