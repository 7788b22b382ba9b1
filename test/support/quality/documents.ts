/** Typical SVG documents: pages of text, a desktop, line art and a logo. */

export const WIDTH = 2400;
export const HEIGHT = 1500;

const WORDS =
  'Sphinx of black quartz, judge my vow. The five boxing wizards jump quickly: 0123456789.';

const repeat = (count: number, print: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => print(at)).join('');

function document(body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif">${body}</svg>`;
}

/** Black text on white in print and caption sizes. */
export function textPage(): string {
  const sizes = [64, 48, 36, 28, 24, 20, 18, 16, 14, 12];
  const line = (at: number) => {
    const size = sizes[at % sizes.length] ?? 12;
    const y = 70 + at * 46;
    return `<text x="60" y="${y}" font-size="${size}">${WORDS.repeat(2)}</text>`;
  };
  return document(`<rect width="100%" height="100%" fill="#fff"/>${repeat(31, line)}`);
}

/** Red on blue and green on violet: colors that chroma subsampling blurs most. */
export function coloredText(): string {
  const grounds = ['#1030c0', '#c01020', '#108030', '#7030a0', '#202020'];
  const inks = ['#ff3020', '#30e0ff', '#ff60c0', '#60ff40', '#ffd000'];
  const stripe = (at: number) => {
    const [ground, ink] = [grounds[at % 5], inks[at % 5]];
    const y = at * 100;
    return `<rect y="${y}" width="100%" height="100" fill="${ground}"/><text x="40" y="${y + 66}" font-size="${20 + 4 * (at % 7)}" fill="${ink}">${WORDS}</text>`;
  };
  return document(repeat(15, stripe));
}

/** Windows with title bars, rows of small text, hairlines and flat colors. */
export function screenshot(): string {
  const row = (at: number) =>
    `<rect x="0" y="${44 + at * 24}" width="1000" height="24" fill="${at % 2 === 0 ? '#fff' : '#f3f5f7'}"/><text x="10" y="${61 + at * 24}" font-size="13" fill="#1f2328">${at + 1}  const value${at} = await render(plan, { quality: ${(at * 7) % 100} });</text><path d="M0 ${44.5 + at * 24}H1000" stroke="#d0d7de"/>`;
  const window = (x: number, y: number, title: string) =>
    `<g transform="translate(${x} ${y})"><rect width="1000" height="620" fill="#fff" stroke="#57606a"/><rect width="1000" height="44" fill="#24292f"/><text x="16" y="29" font-size="18" fill="#fff">${title}</text>${repeat(23, row)}<circle cx="970" cy="22" r="9" fill="#ff5f57"/><circle cx="942" cy="22" r="9" fill="#febc2e"/></g>`;
  const icon = (at: number) =>
    `<rect x="${60 + at * 110}" y="1400" width="72" height="72" rx="14" fill="hsl(${at * 47}, 70%, 52%)"/><path d="M${78 + at * 110} 1436h36M${96 + at * 110} 1418v36" stroke="#fff" stroke-width="6"/>`;
  return document(
    `<rect width="100%" height="100%" fill="#2d6a8e"/>${window(80, 60, 'render.ts')}${window(1200, 220, 'plan.ts')}${window(420, 720, 'geometry.ts')}${repeat(20, icon)}`,
  );
}

/** Strokes of 1 to 6 pixels at every angle, on a transparent background. */
export function lineArt(): string {
  const ray = (at: number) => {
    const angle = (at * Math.PI) / 60;
    const [x, y] = [1200 + 1150 * Math.cos(angle), 750 + 720 * Math.sin(angle)];
    return `<path d="M1200 750L${x.toFixed(1)} ${y.toFixed(1)}" stroke="#102a43" stroke-width="${1 + (at % 6)}"/>`;
  };
  const ring = (at: number) =>
    `<circle cx="1200" cy="750" r="${40 + at * 34}" fill="none" stroke="#d64545" stroke-width="${1 + (at % 4)}"/>`;
  return document(repeat(120, ray) + repeat(20, ring));
}

/** Flat shapes, a soft shadow and white letters, on a transparent background. */
export function logotype(): string {
  return document(
    `<defs><radialGradient id="s"><stop offset="0" stop-color="#000" stop-opacity=".5"/><stop offset="1" stop-color="#000" stop-opacity="0"/></radialGradient></defs><ellipse cx="1200" cy="1240" rx="900" ry="160" fill="url(#s)"/><path d="M300 1100L1200 200L2100 1100Z" fill="#0b7285"/><path d="M700 1100L1200 600L1700 1100Z" fill="#ffd43b" fill-opacity=".85"/><text x="1200" y="1060" font-size="230" font-weight="bold" text-anchor="middle" fill="#fff">Tintype</text><text x="1200" y="1420" font-size="60" text-anchor="middle" fill="#343a40">pictures, exactly as asked for</text>`,
  );
}
