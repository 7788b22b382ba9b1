/** What a program tells of its service, most often from variables that somebody forgot to set or set in part. */

/** The origin of `address`; `option` is what it was given as. Throws TypeError for what is no http(s) URL. */
export function readOrigin(option: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url.origin;
  // The key in its place, for one, is not to be printed.
  const given = String(address).startsWith('tin_') ? 'an API key' : `'${address}'`;
  throw new TypeError(
    `${option} is ${given}, which is no address: write one such as https://images.example`,
  );
}

/** Throws TypeError for what no header can carry, and never prints it. */
export function readApiKey(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey.trim())) return apiKey.trim();
  throw new TypeError('apiKey is no key: give the whole of one, tin_live_ and what follows');
}
