/** SVG: a sanitized drawing is safe and small, and sanitizing it again changes nothing. */
import assert from 'node:assert/strict';
import { SVG_BYTES_MAX } from '../../../runtime/core/limits.ts';
import { IngestRefusal } from '../../../runtime/worker/ingest/ingest-refusal.ts';
import { pathLines, pointLines } from '../../../runtime/worker/ingest/svg/path-segments.ts';
import { sanitizeSvg } from '../../../runtime/worker/ingest/svg/sanitize-svg.ts';
import {
  printDeclarations,
  printStyleSheet,
  readDeclarations,
  readStyleSheet,
  readValue,
} from '../../../runtime/worker/ingest/svg/style.ts';
import { transformScale } from '../../../runtime/worker/ingest/svg/transforms.ts';
import { attacks, disguises, whole } from '../../support/svg-attacks.ts';
import { drawings } from '../../support/svg-drawings.ts';
import { bytes, refusals, type Target, text } from '../target.ts';

/** Matches dangerous elements and attributes, and URLs that do not refer to the file itself. */
const DANGEROUS =
  /<(?:script|foreignObject|iframe|image|a|handler|set|animate)[\s/>]|<[^>]*\son\w+=|(?<![a-z_])(?:javascript|data|https?(?!:\/\/www\.w3\.org\/2000\/svg")|file):|<!|<\?|\\|@import/i;

const svg = bytes({
  name: 'svg',
  length_max: 16_384,
  seeds: () => [
    ...drawings.map(({ document }) => Buffer.from(document)),
    ...Object.values(attacks).flatMap((each) => each.map((content) => Buffer.from(whole(content)))),
    ...disguises.map(([, file]) => file),
  ],
  run(input) {
    const { vector, needs } = sanitizeSvg(input);
    assert.ok(Buffer.byteLength(vector) <= SVG_BYTES_MAX * 6);
    const tags = vector.replaceAll(/>[^<]*</g, '><');
    assert.equal(DANGEROUS.exec(tags)?.[0], undefined);
    assert.ok(Object.values(needs).every((need) => Number.isFinite(need) && need >= 0));
    assert.equal(sanitizeSvg(Buffer.from(vector)).vector, vector, 'sanitized again it is another');
    return needs;
  },
  refuses: refusals(IngestRefusal),
});

const sheets = text({
  name: 'style-sheets',
  seeds: () => [
    '.a{fill:#0a0} #b>rect{opacity:.5;stroke:url(#g)}',
    '@media (min-width:1px){.a:hover{fill:rgb(1 2 3 / 50%)}} /* c */ text{font-family:"A b",sans-serif}',
    "a{fill:url('#x') red;fill:expression(alert(1))}@import url(x);b{}",
  ],
  run(input) {
    const rules = readStyleSheet(input);
    const sheet = printStyleSheet(rules);
    assert.equal(printStyleSheet(readStyleSheet(sheet)), sheet);
    return rules.length === 0 ? undefined : rules;
  },
  refuses: refusals(IngestRefusal, 'unsupported_media_type'),
});

const declarations = text({
  name: 'style-attributes',
  seeds: () => [
    'fill:red;stroke:url(#a);opacity:.5',
    'font:italic 1.2em "A b", serif;fill:/**/url( "#a" )',
    'transform:translate(1px,2px) rotate(3deg);filter:blur(2px)',
  ],
  run(input) {
    const printed = printDeclarations(readDeclarations(input));
    assert.equal(printDeclarations(readDeclarations(printed)), printed);
    const value = readValue(input);
    if (value !== undefined) assert.equal(readValue(value), value);
    return printed === '' && value === undefined ? undefined : { printed, value };
  },
  refuses: refusals(IngestRefusal, 'unsupported_media_type'),
});

const BOUNDS = { scale: 3, line_rows_max: 2048, rows_max: 100_000, line_rows: 8 };

const paths = text({
  name: 'paths-and-transforms',
  seeds: () => [
    'M3 9l9-7 9 7v11a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
    'M280,60c40-40,120-40,160,0s40,120,0,160Q1e3.5.5-2T9 9A25 26 -30 0150-25',
    '0,0 10.5-3 7e2,8',
    'matrix(1 0 0 1 300 160) scale(2) skewX(89.9) rotate(45, 1, 2)',
  ],
  run(input) {
    const segments = [...pathLines(input, BOUNDS).segments, ...pointLines(input, BOUNDS).segments];
    assert.ok(segments.every((number) => !Number.isNaN(number)));
    assert.ok(segments.length <= 4 * (input.length + 1) * BOUNDS.line_rows_max);
    const scale = transformScale(input);
    assert.ok(scale >= 0);
    return segments.length === 0 && scale === 1 ? undefined : segments.length;
  },
});

export const drawingTargets: readonly Target[] = [svg, sheets, declarations, paths];
