/** The upload handler of the page's server, as the browser calls it. */

export type Endpoint = {
  readonly url: string;
  readonly headers: () => HeadersInit;
};

/**
 * Resolves the address once, because a page may change its base. Servers that render the page
 * create uploaders too and have no document.
 */
export function endpointAt(address: string, headers: Endpoint['headers']): Endpoint {
  if (typeof document === 'undefined') return { url: address, headers };
  const { baseURI } = document;
  // Some frames and windows have a base that nothing is relative to, such as about:blank.
  if (!URL.canParse(address, baseURI)) {
    throw new TypeError(
      `endpoint is '${address}', which is relative, and ${baseURI} is no base for it: use a whole URL such as https://shop.example/upload`,
    );
  }
  return { url: new URL(address, baseURI).href, headers };
}
