import { describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';
import { attacks, handlers, whole } from '../../../../support/svg-attacks.ts';

const clean = (document: string) => sanitizeSvg(Buffer.from(document)).vector;
const refusal = (document: string | Buffer) => {
  try {
    sanitizeSvg(Buffer.from(document));
    return 'taken';
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
};

/** Must not occur in sanitized text: every attack below needs one of these to do harm. */
const HARM =
  /script|alert|evil|javascript|vbscript|\bdata:|\bon[a-z]+=|foreignobject|iframe|@import|@font-face|@namespace|<!|<\?|xlink|ev:|\\|expression|animate|<set|http:\/\/(?!www\.w3\.org\/2000\/svg")/i;

describe('a sanitized SVG', () => {
  for (const [kind, vectors] of Object.entries(attacks)) {
    it.each(vectors)(`holds nothing harmful of ${kind}: %s`, (vector) => {
      // Visible text is harmless, wherever it came from.
      const text = clean(whole(`${vector}<rect id="kept"/>`)).replaceAll(
        />[^<]*alert[^<]*</g,
        '><',
      );
      expect(text).not.toMatch(HARM);
      expect(text.endsWith('<rect id="kept"/></svg>')).toBe(true);
    });
  }

  it.each(handlers)('does not hold the handler %s on any element', (handler) => {
    const attribute = `${handler}="alert(1)"`;
    expect(clean(whole(`<g ${attribute}><text ${attribute}/></g>`, attribute))).not.toMatch(HARM);
  });

  it('does not hold what stands beside the root element', () => {
    const document = `<?xml version="1.0"?><?evil alert(1)?><!-- evil -->${whole('')}<!-- evil -->`;
    expect(clean(document)).toBe('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>');
  });
});

describe('an unacceptable SVG', () => {
  const BITMAP = 'data:image/png;base64,iVBORw0KGgo=';

  it.each([
    ['a DOCTYPE', `<!DOCTYPE svg>${whole('')}`],
    [
      'an external DOCTYPE',
      `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://evil/x.dtd">${whole('')}`,
    ],
    ['entities', `<!DOCTYPE svg [<!ENTITY a "b">]>${whole('<text>&a;</text>')}`],
    [
      'external entities',
      `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>${whole('<text>&a;</text>')}`,
    ],
    ['parameter entities', `<!DOCTYPE svg [<!ENTITY % a SYSTEM "http://evil">%a;]>${whole('')}`],
    [
      'entity bombs',
      `<!DOCTYPE svg [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${whole('<text>&b;</text>')}`,
    ],
    ['a bitmap', whole(`<image href="${BITMAP}"/>`)],
    ['a bitmap through xlink:href', whole(`<image xlink:href="${BITMAP}"/>`)],
    ['a bitmap of any kind', whole('<image href=" DATA:application/octet-stream,x"/>')],
    ['an embedded SVG', whole('<image href="data:image/svg+xml,&lt;svg/>"/>')],
    ['a bitmap in a filter', whole(`<filter><feImage href="${BITMAP}"/></filter>`)],
    [
      'a bitmap in a dropped element',
      whole(`<foreignObject><image href="${BITMAP}"/></foreignObject>`),
    ],
    [
      'a bitmap in a pattern',
      whole(`<defs><pattern><image xlink:href="${BITMAP}"/></pattern></defs>`),
    ],
    ['a bitmap in a use', whole(`<use href="${BITMAP}"/>`)],
    ['a bitmap as paint', whole(`<rect fill="url(${BITMAP})"/>`)],
    ['a bitmap in a style', whole(`<rect style="background:url('${BITMAP}')"/>`)],
    ['a bitmap in a style sheet', whole(`<style>rect{background:url("${BITMAP}")}</style>`)],
  ])('is rejected with unsupported_media_type for %s', (_, document) => {
    expect(refusal(document)).toBe('unsupported_media_type');
  });

  it.each([
    ['nothing', ''],
    ['an open element', '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><g>'],
    ['elements closed in the wrong order', whole('<g><rect></g></rect>')],
    ['a duplicate attribute', whole('<g id="a" id="b"/>')],
    [
      'a duplicate attribute in one namespace',
      whole('<use xlink:href="#a" y:href="#b" xmlns:y="http://www.w3.org/1999/xlink"/>'),
    ],
    ['an attribute without quotes', whole('<g id=a/>')],
    ['an attribute without value', whole('<g hidden/>')],
    ['an unknown entity', whole('<text>&nbsp;</text>')],
    ['a bare ampersand', whole('<text>a & b</text>')],
    ['an unbound prefix', whole('<x:g/>')],
    ['a second root', `${whole('')}${whole('')}`],
    ['text after the root', `${whole('')}evil`],
    ['a forbidden character', whole('<text>\u0001</text>')],
    ['a reference to a forbidden character', whole('<text>&#0;</text>')],
    ['HTML', '<html><svg/></html>'],
    ['no namespace', '<svg viewBox="0 0 9 9"/>'],
    ['another namespace', '<svg xmlns="http://evil" viewBox="0 0 9 9"/>'],
    ['another root', '<g xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'],
    ['a link as root', '<a xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'],
    [
      'invalid UTF-8',
      Buffer.concat([Buffer.from(whole('').slice(0, -6)), Buffer.from([0xff, 0xc0])]),
    ],
    ['no size and no viewBox', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['only a relative size', '<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="50%"/>'],
    ['only a width', '<svg xmlns="http://www.w3.org/2000/svg" width="10"/>'],
    ['a size of zero', '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="10"/>'],
    ['an enormous size', '<svg xmlns="http://www.w3.org/2000/svg" width="1e99" height="10"/>'],
    ['a viewBox without a width', '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 0 9"/>'],
    [
      'a viewBox that is not numbers',
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="a b c d"/>',
    ],
  ])('is rejected with decode_failed for %s', (_, document) => {
    expect(refusal(document)).toBe('decode_failed');
  });
});
