/** The upload handler of the page's server, as the browser asks it. */

export type Endpoint = {
  readonly url: string;
  readonly headers: () => HeadersInit;
};

/** Resolved when it is wanted: a server that renders the page makes uploaders too, and has no document. */
export function endpointAt(address: string, headers: Endpoint['headers']): Endpoint {
  return {
    get url() {
      return new URL(address, document.baseURI).href;
    },
    headers,
  };
}
