/** Validates the configured address and key of the service, which often come from unset or partly set variables. */

/** The origin of `address`; `option` names it in errors. Throws TypeError for no http(s) URL. */
export function readOrigin(option: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url.origin;
  // Somebody may have passed the API key here, which must not be printed.
  const given = String(address).startsWith('tin_') ? 'an API key' : `'${address}'`;
  throw new TypeError(
    `${option} is ${given}, which is not an http(s) URL: use one such as https://images.example`,
  );
}

/** Throws TypeError if a header cannot carry the key, and never prints it. */
export function readApiKey(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey.trim())) return apiKey.trim();
  throw new TypeError('apiKey is not a key: pass the whole key, which begins with tin_live_');
}
