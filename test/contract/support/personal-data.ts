/** Sends recognizable personal data wherever the API takes some. */
import { expect } from 'vitest';
import type { Canaries } from './canaries.ts';
import type { Answer, Sent } from './client.ts';

const ORIGIN = 'https://cms.example.com';

/** EXIF of a photograph taken at 52° 30′ 58.58961″ N, 13° 22′ 39.97177″ E. */
export const TAKEN_IN_BERLIN = {
  IFD3: {
    GPSLatitudeRef: 'N',
    GPSLatitude: '52/1 30/1 5858961/100000',
    GPSLongitudeRef: 'E',
    GPSLongitude: '13/1 22/1 3997177/100000',
  },
};

type Sender = {
  people: Canaries;
  /** For the secrets that are made on the way. */
  canaries: Canaries;
  /** Sends a request of the dashboard. */
  send(sent: Sent): Promise<Answer>;
  asKey(method: string, path: string, body?: unknown): Promise<Answer>;
};

/** What a dashboard sends about its user. It is stored at the first login. */
export function displayHeaders(people: Canaries): Record<string, string> {
  const names = ['email', 'first-name', 'last-name', 'name'];
  return Object.fromEntries(
    names.map((name) => [`x-identity-user-${name}`, people.make(`${name} of a user`)]),
  );
}

/** Returns queries that list files by personal data. */
export async function sendPersonalData(sender: Sender): Promise<string[]> {
  const { people, send, asKey } = sender;
  const fields = ['name', 'company', 'message', 'use_case'];
  const said = fields.map((name) => [name, people.make(`${name} of an access request`)]);
  const email = `${people.make('address of an access request')}@example.com`;
  const body = { email, ...Object.fromEntries(said) };
  await send({ method: 'POST', path: '/v1/public/access-requests', body });
  await send({ method: 'POST', path: '/v1/public/access-requests', body: { ...body, url: 7 } });
  const subject = people.make('subject of an end user');
  await upload(sender, subject);
  const bbox = await whereabouts(people, asKey);
  const title = await describePicture(people, asKey);
  return [`uploader=${subject}`, `library=default&bbox=${bbox}`, `library=default&search=${title}`];
}

/** As an end user in the picker. */
async function upload({ people, canaries, send, asKey }: Sender, subject: string) {
  await asKey('PATCH', '/v1/projects/shop/libraries/default', { allowed_origins: [ORIGIN] });
  const session = {
    library: 'default',
    permissions: ['browse', 'upload'],
    origin: ORIGIN,
    subject,
  };
  const { body } = await asKey('POST', '/v1/projects/shop/library-sessions', session);
  const sent = await send({
    method: 'POST',
    path: '/v1/library/uploads',
    headers: { authorization: `Bearer ${canaries.note('library session', body.token)}` },
    body: {
      content_type: 'image/jpeg',
      size_bytes: 1000,
      original_filename: `${people.make('name of a file')}.jpg`,
      title: people.make('title of an upload'),
    },
  });
  expect(sent.status).toBe(201);
}

async function whereabouts(people: Canaries, asKey: Sender['asKey']): Promise<string> {
  const { body } = await asKey('GET', '/v1/projects/shop/files/proxy.jpg?include=location');
  const { latitude, longitude } = body.location;
  people.note('latitude', String(latitude));
  people.note('longitude', String(longitude));
  return [longitude, latitude, longitude + 1, latitude + 1].join();
}

async function describePicture(people: Canaries, asKey: Sender['asKey']): Promise<string> {
  const title = people.make('title of a picture');
  const alt_text = people.make('description of a picture');
  await asKey('PATCH', '/v1/projects/shop/files/proxy.jpg', { title, alt_text });
  return title;
}
