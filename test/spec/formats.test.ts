// Spec: Endpoints, Uploads (content_type); What the service does (BMP and TIFF become PNG).
import { describe, expect, it } from 'vitest';
import { formats } from '../../runtime/core/image/formats.ts';
import endpoints from './endpoints.json' with { type: 'json' };

describe('the upload types', () => {
  it('are those of the specification, in its order', () => {
    const create = endpoints.rows.find(
      (row) => row.method === 'POST' && row.path === '/v1/projects/{slug}/uploads',
    );
    expect(formats.map((format) => format.content_type)).toEqual(create?.content_types);
  });

  it('are stored in their own format, except BMP and TIFF, which become PNG', () => {
    const changed = formats.filter((format) => format.stored_as !== format.content_type);
    expect(changed.map((format) => [format.content_type, format.stored_as])).toEqual([
      ['image/tiff', 'image/png'],
      ['image/bmp', 'image/png'],
    ]);
  });
});
