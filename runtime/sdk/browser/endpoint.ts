/** The upload handler of the page's server, as the browser asks it. */

export type Endpoint = {
  readonly url: string;
  readonly headers: () => HeadersInit;
};

/** Read once, as a page may change its address. Servers that render it make uploaders too, and have no document. */
export function endpointAt(address: string, headers: Endpoint['headers']): Endpoint {
  const isPage = typeof document !== 'undefined';
  return { url: isPage ? new URL(address, document.baseURI).href : address, headers };
}
