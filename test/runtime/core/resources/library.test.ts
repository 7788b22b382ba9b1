import { describe, expect, it } from 'vitest';
import { createLibraryBody } from '../../../../runtime/core/resources/library.ts';

describe('createLibraryBody', () => {
  it('measures a name after trimming and merges origins that normalize to the same one', () => {
    const library = { slug: 'summer', name: ` ${'a'.repeat(120)} ` };
    expect(createLibraryBody.parse(library).name).toHaveLength(120);
    expect(createLibraryBody.safeParse({ ...library, name: 'a'.repeat(121) }).success).toBe(false);
    const origins = ['https://A.example', 'https://a.example:443'];
    expect(
      createLibraryBody.parse({ ...library, allowed_origins: origins }).allowed_origins,
    ).toEqual(['https://a.example']);
  });
});
