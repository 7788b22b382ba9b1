/** EXIF blocks with places and times: valid, damaged and random ones. */
import fc from 'fast-check';
import type { Capture } from '../../runtime/worker/ingest/metadata/capture.ts';
import type { ExifFields, ExifSource } from './exif.ts';

const [ASCII, SHORT, RATIONAL, SIGNED] = [2, 3, 5, 10] as const;
const [TAKEN, OFFSET, FRACTION, VERSION] = [0x9003, 0x9011, 0x9291, 0x9000] as const;
type Rationals = readonly (readonly [number, number])[];

const whole = (...values: number[]): Rationals => values.map((value) => [value, 1] as const);

const parts = (text: string): Rationals =>
  text.split(' ').map((one) => [Number(one.split('/')[0]), Number(one.split('/')[1])] as const);

/** Defaults to the coordinates of Berlin. */
const NORTH = whole(52, 31, 12);
const EAST = whole(13, 24, 18);
const BERLIN = { latitude: 52.52, longitude: 13.405 };

function place(over: ExifFields = {}): ExifFields {
  return {
    1: [ASCII, 'N'],
    2: [RATIONAL, NORTH],
    3: [ASCII, 'E'],
    4: [RATIONAL, EAST],
    ...over,
  };
}

function time(taken: string, more: ExifFields = {}): ExifFields {
  return { [TAKEN]: [ASCII, taken], ...more };
}

const latitude = (value: Rationals): ExifSource => ({ place: place({ 2: [RATIONAL, value] }) });
const both = (north: Rationals, east: Rationals): ExifSource => ({
  place: place({ 2: [RATIONAL, north], 4: [RATIONAL, east] }),
});
const at = (taken: string, more?: ExifFields): ExifSource => ({ exposure: time(taken, more) });
const took = (taken_at: string | null): Partial<Capture> => ({ taken_at });
const placed = (north: number, east: number): Partial<Capture> => ({
  location: { latitude: north, longitude: east },
});
const NOWHERE: Partial<Capture> = { location: null };
const IN_BERLIN: Partial<Capture> = { location: BERLIN };
const offset = (value: string): ExifFields => ({ [OFFSET]: [ASCII, value] });
const fraction = (value: string): ExifFields => ({ [FRACTION]: [ASCII, value] });

export type CaptureRow = readonly [name: string, source: ExifSource, expected: Partial<Capture>];

/** Blocks that ExifTool and Tintype read alike. */
export const agreed: readonly CaptureRow[] = [
  ['north and east', { place: place() }, IN_BERLIN],
  ['little end first', { order: 'II', place: place() }, IN_BERLIN],
  ['south', { place: place({ 1: [ASCII, 'S'] }) }, placed(-52.52, 13.405)],
  ['west', { place: place({ 3: [ASCII, 'W'] }) }, placed(52.52, -13.405)],
  [
    'south and west',
    { order: 'II', place: place({ 1: [ASCII, 'S'], 3: [ASCII, 'W'] }) },
    placed(-52.52, -13.405),
  ],
  [
    'sides in small letters',
    { place: place({ 1: [ASCII, 's'], 3: [ASCII, 'w'] }) },
    placed(-52.52, -13.405),
  ],
  [
    'sides as whole words',
    { place: place({ 1: [ASCII, 'South'], 3: [ASCII, 'West'] }) },
    placed(-52.52, -13.405),
  ],
  ['decimal minutes', latitude(parts('52/1 312/10 0/1')), IN_BERLIN],
  ['decimal degrees', latitude(parts('5252/100 0/1 0/1')), IN_BERLIN],
  ['large denominators', latitude(parts('52/1 31/1 12000000/1000000')), IN_BERLIN],
  ['signed rationals', { place: place({ 2: [SIGNED, NORTH] }) }, IN_BERLIN],
  ['the north pole', latitude(whole(90, 0, 0)), placed(90, 13.405)],
  ['the date line', { place: place({ 4: [RATIONAL, whole(180, 0, 0)] }) }, placed(52.52, 180)],
  ['the equator', latitude(whole(0, 0, 0)), placed(0, 13.405)],
  ['the meridian', { place: place({ 4: [RATIONAL, whole(0, 0, 0)] }) }, placed(52.52, 0)],
  [
    'with an altitude beside it',
    { place: place({ 5: [1, [0]], 6: [RATIONAL, [[125, 10]]] }) },
    IN_BERLIN,
  ],
  ['no latitude', { place: { 3: [ASCII, 'E'], 4: [RATIONAL, EAST] } }, NOWHERE],
  ['no longitude', { place: { 1: [ASCII, 'N'], 2: [RATIONAL, NORTH] } }, NOWHERE],
  ['no place at all', { place: { 0: [1, [2, 3, 0, 0]] } }, NOWHERE],
  ['a time', at('2024:05:06 07:08:09'), took('2024-05-06T07:08:09.000Z')],
  [
    'a time, little end first',
    { order: 'II', exposure: time('2024:05:06 07:08:09') },
    { taken_at: '2024-05-06T07:08:09.000Z' },
  ],
  [
    'east of Greenwich',
    at('2024:05:06 07:08:09', offset('+02:00')),
    took('2024-05-06T05:08:09.000Z'),
  ],
  [
    'west of Greenwich, over midnight',
    at('2024:12:31 20:00:00', offset('-05:00')),
    took('2025-01-01T01:00:00.000Z'),
  ],
  [
    'half an hour of offset',
    at('2024:05:06 07:08:09', offset('+05:30')),
    took('2024-05-06T01:38:09.000Z'),
  ],
  [
    'the easternmost zone',
    at('2024:05:06 07:08:09', offset('+14:00')),
    took('2024-05-05T17:08:09.000Z'),
  ],
  [
    'tenths of a second',
    at('2024:05:06 07:08:09', fraction('5')),
    took('2024-05-06T07:08:09.500Z'),
  ],
  [
    'hundredths of a second, in a zone',
    at('2024:05:06 07:08:09', { ...fraction('07'), ...offset('+01:00') }),
    took('2024-05-06T06:08:09.070Z'),
  ],
  ['a leap day', at('2024:02:29 00:00:00'), took('2024-02-29T00:00:00.000Z')],
  ['a time before there were cameras', at('1826:06:01 12:00:00'), took('1826-06-01T12:00:00.000Z')],
  ['no time', { exposure: { [VERSION]: [7, [48, 50, 51, 50]] } }, { taken_at: null }],
  [
    'place and time',
    { place: place(), exposure: time('2024:05:06 07:08:09', offset('+02:00')) },
    { location: BERLIN, taken_at: '2024-05-06T05:08:09.000Z' },
  ],
];

/** Invalid blocks, which Tintype ignores, while ExifTool prints them literally or guesses. */
export const refused: readonly CaptureRow[] = [
  ['latitude above 90', latitude(whole(91, 0, 0)), NOWHERE],
  ['latitude above 90 by its minutes', latitude(whole(89, 61, 0)), NOWHERE],
  ['longitude above 180', { place: place({ 4: [RATIONAL, whole(180, 0, 1)] }) }, NOWHERE],
  ['the largest of numbers', latitude(whole(0xffffffff, 0, 0)), NOWHERE],
  ['less than nothing', { place: place({ 2: [SIGNED, whole(-52, 0, 0)] }) }, NOWHERE],
  ['degrees of nothing', latitude(parts('52/0 31/1 12/1')), NOWHERE],
  ['no degrees of nothing', latitude(parts('0/0 0/0 0/0')), NOWHERE],
  ['minutes of nothing', latitude(parts('52/1 31/0 12/1')), NOWHERE],
  [
    'no minutes and seconds of nothing, which some write for none',
    latitude(parts('5252/100 0/0 0/0')),
    IN_BERLIN,
  ],
  ['degrees alone', latitude(whole(52)), NOWHERE],
  ['degrees as short numbers', { place: place({ 2: [SHORT, [52, 31, 12]] }) }, NOWHERE],
  ['degrees as text', { place: place({ 2: [ASCII, '52 deg 31 min 12 s north'] }) }, NOWHERE],
  ['a side of neither', { place: place({ 1: [ASCII, 'X'] }) }, NOWHERE],
  ['sides changed over', { place: place({ 1: [ASCII, 'E'], 3: [ASCII, 'N'] }) }, NOWHERE],
  ['an empty side', { place: place({ 1: [ASCII, ''] }) }, NOWHERE],
  ['zeros of a camera without a fix', both(whole(0, 0, 0), whole(0, 0, 0)), NOWHERE],
  ['a time of spaces', at('    :  :     :  :  '), took(null)],
  ['a time of zeros', at('0000:00:00 00:00:00'), took(null)],
  ['the month 13', at('2024:13:01 00:00:00'), took(null)],
  ['the 29th of February', at('2023:02:29 00:00:00'), took(null)],
  ['the hour 25', at('2024:05:06 25:00:00'), took(null)],
  ['a leap second', at('2016:12:31 23:59:60'), took(null)],
  ['a day alone', at('2024:05:06'), took(null)],
  ['another way to write it', at('06/05/2024 07:08'), took(null)],
  ['the year 0', at('0000:01:01 00:00:00', offset('+14:00')), took(null)],
  [
    'an offset of no zone',
    at('2024:05:06 07:08:09', offset('+99:99')),
    took('2024-05-06T07:08:09.000Z'),
  ],
  [
    'an offset of spaces',
    at('2024:05:06 07:08:09', offset('   :  ')),
    took('2024-05-06T07:08:09.000Z'),
  ],
  [
    'a fraction that is none',
    at('2024:05:06 07:08:09', fraction('  x')),
    took('2024-05-06T07:08:09.000Z'),
  ],
  ['a time as numbers', { exposure: { [TAKEN]: [SHORT, [2024, 5, 6]] } }, took(null)],
];

/**
 * Random valid blocks: degrees within bounds with any denominator, and any second of two centuries
 * in any time zone. No value is zero.
 */
export function randomSources(): fc.Arbitrary<ExifSource> {
  const share = (max: number, min = 0) =>
    fc
      .tuple(fc.integer({ min: 1, max: 100_000 }), fc.double({ min, max, noNaN: true }))
      .map(([of, value]) => [Math.floor(value * of), of] as const);
  const angle = (max: number) => fc.tuple(share(max - 2, 1), share(59), share(59));
  const two = (value: number) => String(value).padStart(2, '0');
  const zone = fc
    .tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max: 12 }), fc.constantFrom(0, 30, 45))
    .map(([sign, hours, minutes]) => `${sign}${two(hours)}:${two(minutes)}`);
  const taken = fc
    .date({ min: new Date('1900-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 19).replace(/-/g, ':').replace('T', ' '));
  return fc.record({
    order: fc.constantFrom('II' as const, 'MM' as const),
    place: fc
      .tuple(fc.constantFrom('N', 'S'), angle(90), fc.constantFrom('E', 'W'), angle(180))
      .map(([side, latitude, end, longitude]) =>
        place({
          1: [ASCII, side],
          2: [RATIONAL, latitude],
          3: [ASCII, end],
          4: [RATIONAL, longitude],
        }),
      ),
    exposure: fc
      .tuple(taken, zone, fc.stringMatching(/^\d{1,3}$/))
      .map(([at, where, part]) => time(at, { ...offset(where), ...fraction(part) })),
  });
}
