/** The hosts that lead to the API, each with the field that names it. */
import type { ImageServiceSpec } from './schema.ts';

export type OwnHosts = ReadonlyMap<string, 'baseURL' | 'uploadBaseURL'>;

/** A host in both fields counts as `baseURL`, as the API is unreachable without that. */
export function ownHosts({ baseURL, uploadBaseURL = baseURL }: ImageServiceSpec): OwnHosts {
  const api = new URL(baseURL).hostname;
  const uploads = new URL(uploadBaseURL).hostname;
  const hosts = new Map([[api, 'baseURL'] as const]);
  return uploads === api ? hosts : new Map([...hosts, [uploads, 'uploadBaseURL'] as const]);
}
