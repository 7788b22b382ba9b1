/** The hosts that lead to the API, each with the field that says it. */
import type { ImageServiceSpec } from './schema.ts';

export type OwnHosts = ReadonlyMap<string, 'baseURL' | 'uploadBaseURL'>;

/** Of a host that both fields say it is `baseURL`: without that the API is nowhere. */
export function ownHosts({ baseURL, uploadBaseURL = baseURL }: ImageServiceSpec): OwnHosts {
  const api = new URL(baseURL).hostname;
  const uploads = new URL(uploadBaseURL).hostname;
  const hosts = new Map([[api, 'baseURL'] as const]);
  return uploads === api ? hosts : new Map([...hosts, [uploads, 'uploadBaseURL'] as const]);
}
