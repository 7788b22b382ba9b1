/**
 * What the service needs from a CDN: that it forgets. Spec: Caching and response headers.
 */

export type Cdn = {
  /** Resolves when the CDN has taken the purge; throws when it is to be tried again. */
  purge(purge: CdnPurge): Promise<void>;
};

export type CdnPurge = {
  project_id: string;
  project_slug: string;
  custom_domains: readonly string[];
  /** Null: everything of the project. */
  file_slug: string | null;
};

/** Where there is no CDN, there is nothing to forget. */
export const noCdn: Cdn = { purge: async () => undefined };
