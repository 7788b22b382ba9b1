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
  const isPage = typeof document !== 'undefined';
  return { url: isPage ? new URL(address, document.baseURI).href : address, headers };
}
