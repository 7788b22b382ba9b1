/** The header by which a refusal leads to the page on its code. Ours; Spec: Errors. */

/** `baseUrl`: the API's origin, which serves the pages. */
export function printHelpLink(baseUrl: string, code: string): string {
  return `<${baseUrl}/docs/errors/${code}>; rel="help"`;
}
