import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentDisposition } from '../../../../runtime/core/delivery/content-disposition.ts';

function disposition(file_slug: string, original_filename: string | null, type = 'image/jpeg') {
  return contentDisposition({ content_type: type, file_slug, original_filename });
}

describe('contentDisposition', () => {
  it.each([
    ['photo', 'image/jpeg', 'photo.jpg'],
    ['photo', 'image/png', 'photo.png'],
    ['photo', 'image/webp', 'photo.webp'],
    ['photo.jpg', 'image/jpeg', 'photo.jpg'],
    ['photo.jpeg', 'image/jpeg', 'photo.jpg'],
    ['scan.tiff', 'image/png', 'scan.png'],
    ['v1.2', 'image/png', 'v1.2.png'],
    ['0.png', 'image/png', '0.png'],
  ])('saves %s of type %s as %s', (slug, type, name) => {
    expect(disposition(slug, null, type)).toBe(`attachment; filename="${name}"`);
  });

  it.each([
    ['Urlaub.JPG', 'Urlaub.jpg'],
    ['Scan 1.tiff', 'Scan%201.jpg'],
    ['Größe.jpeg', 'Gr%C3%B6%C3%9Fe.jpg'],
    ['写真.png', '%E5%86%99%E7%9C%9F.jpg'],
    ["it's (1)*.jpg", 'it%27s%20%281%29_.jpg'],
    ['../../etc/passwd', '_.._etc_passwd.jpg'],
    ['C:\\Windows\\x.bmp', 'C__Windows_x.jpg'],
    ['a"; filename="evil.exe', 'a_%3B%20filename%3D_evil.exe.jpg'],
    ['a\r\nSet-Cookie: x=1.jpg', 'aSet-Cookie_%20x%3D1.jpg'],
    ['\u202Egpj.exe', 'gpj.exe.jpg'],
  ])('saves the original filename %j as %s', (original, encoded) => {
    const expected = `attachment; filename="photo.jpg"; filename*=UTF-8''${encoded}`;
    expect(disposition('photo', original)).toBe(expected);
  });

  it.each(['', ' ', '...', '\u0000'])(
    'ignores an original filename that has no usable character: %j',
    (original) => {
      expect(disposition('photo', original)).toBe('attachment; filename="photo.jpg"');
    },
  );

  it('is safe ASCII on one line for any filename, with at most 150 characters a name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (original) => {
        const [plain, extended = ''] = disposition('photo', original).split('; filename*=');
        expect(plain).toBe('attachment; filename="photo.jpg"');
        expect(extended).toMatch(/^(?:UTF-8''(?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})+\.jpg)?$/);
        const name = decodeURIComponent(extended.slice("UTF-8''".length));
        expect([...name].length).toBeLessThanOrEqual(150);
      }),
    );
  });
});
