import { expect, it } from 'vitest';
import { placesOf } from '../../operator/places.ts';
import { parseConfig } from '../../runtime/platform/config.ts';

const delivery = { TINTYPE_DELIVERY_NAMESPACE: 'images' };
const runtime = { TINTYPE_RUNTIME_NAMESPACES: 'one,two' };
const pod = { POD_NAMESPACE: 'system' };

it.each([
  ['in a pod: all is in its namespace', pod, ['system', 'system', ['system']]],
  ['in a pod with routes elsewhere', { ...pod, ...delivery }, ['system', 'images', ['images']]],
  [
    'in a pod with installations elsewhere',
    { ...pod, ...runtime },
    ['system', 'system', ['one', 'two']],
  ],
  [
    'outside: an ImageService may stand where its routes are',
    {},
    ['default', 'tintype-delivery', ['tintype-delivery']],
  ],
  [
    'outside with an empty variable',
    { POD_NAMESPACE: '' },
    ['default', 'tintype-delivery', ['tintype-delivery']],
  ],
  ['outside with routes elsewhere', delivery, ['default', 'images', ['images']]],
])('an operator works %s', (_where, env, places) => {
  const found = placesOf(parseConfig(env), env);
  expect([found.own, found.delivery, found.runtime]).toEqual(places);
});
