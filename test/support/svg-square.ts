/** SVG documents on a square grid. */

export function square(content: string, side = 2048): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">${content}</svg>`;
}

/** The filter `f`, with many named results that a renderer must keep in memory. */
export function filterOfResults(count: number): string {
  const results = Array.from({ length: count }, (_, at) => `<feOffset result="r${at}"/>`);
  return `<filter id="f" filterUnits="userSpaceOnUse" width="9" height="9">${results.join('')}</filter>`;
}
