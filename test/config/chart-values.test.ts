import { describe, expect, it } from 'vitest';
import { helmText } from './rendered.ts';

describe('the repository of the image', () => {
  it.each(['tintype', 'localhost:5000/tintype', 'registry.example.com:443/a/b_c/d.e-f__g--h'])(
    'may be %s',
    (repository) => {
      expect(helmText({ image: { repository, tag: '1.2' } })).toContain(`image: ${repository}:1.2`);
    },
  );

  it.each([
    'registry.example.com/tintype:1.2',
    'tintype:1.2',
    'tintype@sha256',
    'registry.example.com/tintype/',
    'registry.example.com:/tintype',
    'registry.example.com//tintype',
  ])('is not %s', (repository) => {
    expect(() => helmText({ image: { repository } })).toThrow('/image/repository');
  });
});
