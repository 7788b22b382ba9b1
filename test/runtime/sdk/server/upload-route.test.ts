// Errors in a route's options are thrown when the route is created, not at the first upload.
import { expect, it } from 'vitest';
import { formats } from '../../../../runtime/core/image/formats.ts';
import { type AcceptedType, uploadRoute } from '../../../../runtime/sdk/server/upload-route.ts';

const TYPES = /: the types are image\/\*, image\/jpeg, .*, image\/svg\+xml$/;

it.each([
  [{ jpg: {} }, 'accept names "jpg"'],
  [{ 'image/jpeg': {}, 'image/jpg': {} }, 'accept names "image/jpg"'],
  [{}, 'accept names nothing'],
])('a route with accept %j is rejected with the list of valid types', (accept, says) => {
  const make = () => uploadRoute({ accept: accept as Partial<Record<AcceptedType, object>> });
  expect(make).toThrow(RangeError);
  expect(make).toThrow(says);
  expect(make).toThrow(TYPES);
});

it('a route accepts every type that the service accepts, and needs at least one', () => {
  const types = ['image/*', ...formats.map(({ content_type }) => content_type)];
  for (const type of types)
    expect(Object.keys(uploadRoute({ accept: { [type]: {} } }).accept)).toEqual([type]);
  const none = () => uploadRoute({ accept: {} });
  const forgotten = () => uploadRoute({} as Parameters<typeof uploadRoute>[0]);
  const says = new RangeError(`accept names nothing: the types are ${types.join(', ')}`);
  for (const make of [none, forgotten]) expect(make).toThrow(says);
});

it.each(['8 megs', '0MB', -1])('a route rejects a maxSize of %j', (maxSize) => {
  const make = () => uploadRoute({ accept: { 'image/*': { maxSize: maxSize as number } } });
  expect(make).toThrow(/ is not a size: write 8388608, 8MB or 512KB$/);
});
