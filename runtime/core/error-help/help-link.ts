/** The header with which a refusal links to the page about its code. Ours; Spec: Errors. */

/** `baseUrl`: the API's origin, which serves the pages. */
export function printHelpLink(baseUrl: string, code: string): string {
  return `<${baseUrl}/docs/errors/${code}>; rel="help"`;
}
