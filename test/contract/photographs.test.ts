// Photographs of real cameras through the whole service: they become ready with place and time, are delivered without
// metadata, and raw downloads return metadata that ExifTool can read. Spec: File (location); Output rules 1, 7.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { realPhotographs } from '../support/photographs.ts';
import { over, photograph } from '../support/pictures.ts';
import { type Caller, deliver, targetOf, withKey, withSession } from './support/client.ts';
import { takeTintype, type UsedTintype } from './support/shared-tintype.ts';
import { tagsOf } from './support/tools.ts';
import { upload } from './support/upload.ts';

let tintype: UsedTintype;
let project: string;
let key: Caller;

beforeAll(async () => {
  tintype = await takeTintype();
  project = tintype.instance.project_slug;
  key = withKey(tintype, tintype.instance.api_key);
  const owner = await withSession(tintype, 'demo');
  const opened = await owner('PATCH', `/v1/projects/${project}`, { raw_download_enabled: true });
  expect(opened.status).toBe(200);
});

afterAll(() => tintype?.stop());

const SPAIN = { latitude: 36.5974417, longitude: -4.50846 };
const SUNRISE = { place: SPAIN, taken: '2017-10-27T08:38:52.000Z' };
const SWEDEN = { latitude: 59.3325472, longitude: 18.0649417 };
const FLORIDA = { latitude: 26.5825167, longitude: -80.2002333 };
const sources: Readonly<Record<string, { place: object; taken: string }>> = {
  'bep/sunrise.jpg': SUNRISE,
  'bep/sunrise.png': SUNRISE,
  'bep/sunrise.tif': SUNRISE,
  'bep/sunrise.webp': SUNRISE,
  'bep/sunset.avif': SUNRISE,
  'goexif/has-lens-info.jpg': { place: SWEDEN, taken: '2014-09-01T15:03:47.880Z' },
  'metadata_demo_iim_and_xmp_only.jpg': { place: FLORIDA, taken: '2017-05-29T21:19:21.000Z' },
};
const PLACE = /GPS(?:Latitude|Longitude)$/;

async function viewRaw(file_slug: string) {
  const input = { file_slug, kind: 'raw' };
  const { body } = await key('POST', `/v1/projects/${project}/signed-url`, input);
  return deliver(tintype, { project, path: targetOf(body.url) });
}

it('camera photographs keep their location in the API and in raw downloads, but not in originals', async () => {
  const carrier = await over(photograph(64, 48)).jpeg().toBuffer();
  const pictures = realPhotographs(carrier).filter(({ name }) => name in sources);
  expect(pictures.length).toBe(Object.keys(sources).length);
  for (const [at, { name, bytes, content_type }] of pictures.entries()) {
    const file_slug = `camera-${at}`;
    const session = await upload(key, project, { bytes, content_type, file_slug });
    expect([name, session.status]).toEqual([name, 'ready']);
    const { location, taken_at } = (
      await key('GET', `/v1/projects/${project}/files/${file_slug}?include=location`)
    ).body;
    expect({ place: location, taken: taken_at }).toEqual(sources[name]);
    const path = `/originals/f/${file_slug}`;
    const original = await deliver(tintype, { project, path });
    expect(Object.keys(await tagsOf(original.bytes)).filter((tag) => PLACE.test(tag))).toEqual([]);
    const raw = await viewRaw(file_slug);
    if (content_type === 'image/avif') {
      expect([raw.status, raw.body.error.code]).toEqual([415, 'raw_unavailable']);
      continue;
    }
    const [given, tags] = [await tagsOf(bytes), await tagsOf(raw.bytes)];
    expect([name, tags['ExifTool:Warning']]).toEqual([name, undefined]);
    expect(['1', undefined, 'Horizontal (normal)']).toContain(tags['EXIF:Orientation']);
    const places = Object.keys(given).filter(
      (tag) => /^(?:EXIF|XMP):/.test(tag) && PLACE.test(tag),
    );
    expect(places.length).toBeGreaterThan(1);
    for (const tag of places) expect([tag, tags[tag]]).toEqual([tag, given[tag]]);
  }
}, 300_000);
