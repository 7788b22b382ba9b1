/** What one GET of an address of our own is answered, as the public would make it. */
import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { failUnanswered } from './fail-unanswered.ts';

/** Throws what the connection throws, and at the signal. The body is of no interest. */
export async function getStatus(
  url: URL,
  signal: AbortSignal,
): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const { host, hostname, port, pathname: path } = url;
    // Resolvers do not know the names below localhost; browsers and curl do.
    const place = hostname.endsWith('.localhost') ? { hostname: '127.0.0.1' } : { hostname };
    const options = { ...place, port, path, headers: { host }, agent: false, signal };
    const sent = request(options, (response) => {
      const { statusCode: status = 0, headers } = response;
      response
        .resume()
        .on('end', () => resolve({ status, headers }))
        .on('error', reject);
    });
    failUnanswered(sent, reject);
    sent.end();
  });
}
