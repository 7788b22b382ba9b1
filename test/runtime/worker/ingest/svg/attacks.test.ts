import { describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../../runtime/worker/ingest/svg/sanitize-svg.ts';

const NAMESPACES =
  'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:h="http://www.w3.org/1999/xhtml" xmlns:ev="http://www.w3.org/2001/xml-events"';
const whole = (content: string, attributes = '') =>
  `<svg ${NAMESPACES} viewBox="0 0 9 9" ${attributes}>${content}</svg>`;
const clean = (document: string) => sanitizeSvg(Buffer.from(document)).vector;
const refusal = (document: string | Buffer) => {
  try {
    sanitizeSvg(Buffer.from(document));
    return 'taken';
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
};

/** What no sanitized text may hold: every vector below names one of these where it does its harm. */
const HARM =
  /script|alert|evil|javascript|vbscript|\bdata:|\bon[a-z]+=|foreignobject|iframe|@import|@font-face|@namespace|<!|<\?|xlink|ev:|\\|expression|animate|<set|http:\/\/(?!www\.w3\.org\/2000\/svg")/i;

const HANDLERS =
  'onload onerror onclick onmouseover onmousedown onmouseup onmousemove onfocus onfocusin onblur onbegin onend onrepeat onactivate onunload onabort onresize onscroll onzoom onkeydown onwheel onpointerdown ontoggle onanimationstart ontransitionend oncopy onpaste ONLOAD OnLoad onanything'.split(
    ' ',
  );

const dropped: Record<string, string[]> = {
  scripts: [
    '<script>alert(1)</script>',
    '<script type="text/ecmascript"><![CDATA[alert(1)]]></script>',
    '<script href="http://evil/x.js"/>',
    '<script xlink:href="data:text/javascript,alert(1)"/>',
    '<g><g><script>alert(1)</script></g></g>',
    '<defs><script>alert(1)</script></defs>',
    '<text><script>alert(1)</script></text>',
    '<style><script>alert(1)</script></style>',
    '<title><script>alert(1)</script></title>',
    '<h:script>alert(1)</h:script>',
    '<SCRIPT>alert(1)</SCRIPT>',
    '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>',
    '<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>',
    '<handler type="text/ecmascript" ev:event="load">alert(1)</handler>',
    '<listener event="load" handler="#evil"/>',
    '<x><script>alert(1)</script></x>',
    '<metadata><script>alert(1)</script></metadata>',
  ],
  'foreign content': [
    '<foreignObject><h:body onload="alert(1)"/></foreignObject>',
    '<foreignObject><h:iframe src="javascript:alert(1)"/></foreignObject>',
    '<foreignobject><h:script>alert(1)</h:script></foreignobject>',
    '<switch><foreignObject><h:iframe src="http://evil"/></foreignObject></switch>',
    '<h:iframe srcdoc="&lt;script>alert(1)&lt;/script>"/>',
    '<h:img src="x" onerror="alert(1)"/>',
    '<h:link rel="stylesheet" href="http://evil/x.css"/>',
    '<h:meta http-equiv="refresh" content="0;url=http://evil"/>',
    '<h:base href="http://evil/"/>',
    '<h:form action="http://evil"><h:input onfocus="alert(1)" autofocus=""/></h:form>',
    '<h:object data="http://evil"/><h:embed src="http://evil"/>',
    '<h:video src="http://evil"/><video src="http://evil"/><audio src="http://evil"/>',
    '<iframe src="javascript:alert(1)"/>',
    '<math xmlns="http://www.w3.org/1998/Math/MathML" href="javascript:alert(1)"/>',
    '<desc><h:style>@import "http://evil"</h:style></desc>',
    '<a:evil xmlns:a="urn:a">alert(1)</a:evil>',
  ],
  animation: [
    '<set attributeName="href" to="javascript:alert(1)"/>',
    '<rect><set attributeName="onmouseover" to="alert(1)"/></rect>',
    '<rect><animate attributeName="onclick" values="alert(1)"/></rect>',
    '<a><animate attributeName="href" values="javascript:alert(1)"/></a>',
    '<a><animate attributeName="xlink:href" from="#" to="javascript:alert(1)"/></a>',
    '<use><set attributeName="href" to="http://evil/x.svg#a"/></use>',
    '<animateTransform attributeName="transform" onbegin="alert(1)"/>',
    '<animateMotion onend="alert(1)"/>',
    '<animateColor onrepeat="alert(1)"/>',
    '<discard onbegin="alert(1)"/>',
    '<animate href="#x" attributeName="href" to="data:text/html,evil"/>',
    '<animation xlink:href="http://evil"/>',
    '<mpath xlink:href="http://evil#a"/>',
  ],
  links: [
    '<a href="javascript:alert(1)"><rect/></a>',
    '<a xlink:href="javascript:alert(1)"><text>x</text></a>',
    '<a href="java&#10;script:alert(1)"><rect/></a>',
    '<a href="&#106;avascript:alert(1)"><rect/></a>',
    '<a href="vbscript:evil"><rect/></a>',
    '<a href="data:text/html,&lt;script>alert(1)&lt;/script>"><rect/></a>',
    '<a href="http://evil" target="_top" ping="http://evil"><rect/></a>',
    '<text><a href="http://evil">x</a></text>',
    '<g href="javascript:alert(1)"/>',
    '<rect xlink:href="javascript:alert(1)"/>',
    '<h:a href="javascript:alert(1)">x</h:a>',
  ],
  'references elsewhere': [
    '<use href="http://evil/x.svg#a"/>',
    '<use xlink:href="//evil/x.svg#a"/>',
    '<use href="evil.svg#a"/>',
    '<use href="data:text/xml,evil#a"/>',
    '<use href="javascript:alert(1)"/>',
    '<use xlink:href="/evil#a"/>',
    '<use href=" http://evil/#a "/>',
    '<use href="#a" xlink:href="http://evil/#a"/>',
    '<use href="http://evil/#a" xlink:href="#a"/>',
    '<image href="http://evil/x.png"/>',
    '<image xlink:href="//evil/x.png"/>',
    '<image href="file:///evil"/>',
    '<feImage href="http://evil/x.png"/>',
    '<filter><feImage xlink:href="http://evil/x.png"/></filter>',
    '<linearGradient href="http://evil/x.svg#g"/>',
    '<radialGradient xlink:href="http://evil/x.svg#g"/>',
    '<pattern xlink:href="http://evil/x.svg#p"/>',
    '<filter href="http://evil/x.svg#f"/>',
    '<text><textPath href="http://evil/x.svg#t">x</textPath></text>',
    '<text><tref xlink:href="http://evil/x.svg#t"/></text>',
    '<cursor xlink:href="http://evil/x.cur"/>',
    '<font-face-uri xlink:href="http://evil/x.svg#f"/>',
    '<color-profile xlink:href="http://evil/x.icc"/>',
    '<g xml:base="http://evil/"><use href="#a"/></g>',
    '<view xlink:href="http://evil"/>',
    '<glyphRef xlink:href="http://evil"/><altGlyph xlink:href="http://evil"/>',
  ],
  'properties as attributes': [
    '<rect fill="url(http://evil/#a)"/>',
    '<rect fill="url(//evil#a)"/>',
    '<rect fill="url( &#39;http://evil/#a&#39; )"/>',
    '<rect fill="URL(evil.svg#a)"/>',
    '<rect stroke="u\\72l(http://evil)"/>',
    '<rect stroke="\\75rl(http://evil)"/>',
    '<rect fill="url(data:text/plain,evil)"/>',
    '<rect filter="url(http://evil#f)"/>',
    '<rect filter="url(#f) url(http://evil#f)"/>',
    '<rect mask="url(http://evil#m)"/>',
    '<rect mask="image(http://evil)"/>',
    '<rect mask="image-set(&quot;http://evil&quot; 1x)"/>',
    '<rect clip-path="url(http://evil#c)"/>',
    '<rect marker-start="url(http://evil#m)"/>',
    '<rect marker="url(http://evil#m)"/>',
    '<rect cursor="url(http://evil), auto"/>',
    '<rect fill="/**/url(http://evil)"/>',
    '<rect fill="url(/**/http://evil)"/>',
    '<rect fill="var(--a, url(http://evil))"/>',
    '<rect fill="red; stroke: url(http://evil)"/>',
    '<rect fill="src(&quot;http://evil&quot;)"/>',
    '<rect fill="javascript:alert(1)"/>',
    '<rect width="expression(alert(1))"/>',
    '<rect d="url(http://evil)"/>',
    '<rect class="&lt;script>alert(1)"/>',
  ],
  'style attributes': [
    '<rect style="fill:url(http://evil)"/>',
    '<rect style="background:url(http://evil)"/>',
    '<rect style="background-image:url(http://evil)"/>',
    '<rect style="mask-image:url(http://evil)"/>',
    '<rect style="list-style:url(http://evil)"/>',
    '<rect style="cursor:url(http://evil)"/>',
    '<rect style="content:url(http://evil)"/>',
    '<rect style="border-image:url(http://evil)"/>',
    '<rect style="offset-path:url(http://evil)"/>',
    '<rect style="-moz-binding:url(http://evil#x)"/>',
    '<rect style="behavior:url(http://evil)"/>',
    '<rect style="width:expression(alert(1))"/>',
    '<rect style="fill:u\\72l(http://evil)"/>',
    '<rect style="f\\69ll:url(http://evil)"/>',
    '<rect style="--evil:url(http://evil)"/>',
    '<rect style="fill:url(&quot;http://evil"/>',
    '<rect style="fill:url(http://evil"/>',
    '<rect style="fill:rgb(;stroke:url(http://evil)"/>',
    '<rect style="fill:red}rect{fill:url(http://evil)"/>',
    '<rect style="@import &quot;http://evil&quot;"/>',
    '<rect style="fill:red;/*;*/stroke:url(http://evil)"/>',
    '<rect style="fill:-webkit-image-set(url(http://evil) 1x)"/>',
    '<rect style="fill:cross-fade(url(http://evil), red)"/>',
    '<rect style="animation-name:evil"/>',
    '<rect style="font-family:&quot;x&quot;;src:url(http://evil)"/>',
    '<rect style="fill:&lt;!--url(http://evil)-->"/>',
  ],
  'style sheets': [
    '<style>@import "http://evil";</style>',
    '<style>@import url(http://evil);</style>',
    '<style>@IMPORT "http://evil"</style>',
    '<style>@\\69mport "http://evil"</style>',
    '<style>@import/**/"http://evil";</style>',
    '<style><![CDATA[@import "http://evil";]]></style>',
    '<style>@im<!-- -->port "http://evil";</style>',
    '<style>@font-face{font-family:a;src:url(http://evil)}</style>',
    '<style>@font-face{src:url(data:font/woff2;base64,evil)}</style>',
    '<style>@namespace evil "http://evil";</style>',
    '<style>@charset "evil";</style>',
    '<style>@keyframes evil{from{fill:url(http://evil)}}</style>',
    '<style>@supports (fill:red){rect{fill:url(http://evil)}}</style>',
    '<style>@layer a{rect{fill:url(http://evil)}}</style>',
    '<style>@property --evil{syntax:"*"}</style>',
    '<style>@media all{@import "http://evil";rect{fill:url(http://evil)}}</style>',
    '<style>@media url(http://evil){rect{fill:red}}</style>',
    '<style>rect{fill:url(http://evil)}</style>',
    '<style>rect{fill:url("http://evil")}</style>',
    "<style>rect{fill:url('//evil')}</style>",
    '<style>rect{fill:u\\72l(http://evil)}</style>',
    '<style>rect{&amp; g{fill:url(http://evil)}}</style>',
    '<style>rect{fill:red;{stroke:url(http://evil)}}</style>',
    '<style>rect{background:url(http://evil)}</style>',
    '<style>re\\63t,evil\\{}{fill:red}</style>',
    '<style>a[href^="http://evil"]{background:url(http://evil)}</style>',
    '<style>/* } */ rect{/* { */fill:url(http://evil)}</style>',
    '<style>rect{fill:"\nurl(http://evil)"}</style>',
    '<style>&lt;/style>&lt;script>alert(1)&lt;/script></style>',
    '<style>&lt;!-- rect{fill:url(http://evil)} --></style>',
    '<style type="text/javascript">alert(1)</style>',
    '<style type="text/x-evil">rect{fill:red}</style>',
    '<style href="http://evil/x.css"/>',
    '<style>{}@import "http://evil";</style>',
    '<style>rect{fill:red}}@import "http://evil";</style>',
    '<style>rect{fill:red</style><style>@import "http://evil"</style>',
  ],
  'what surrounds the picture': [
    '<?xml-stylesheet href="http://evil/x.css"?>',
    '<?php alert(1) ?>',
    '<!-- <script>alert(1)</script> -->',
    '<![CDATA[<script>alert(1)</script>]]>',
    'alert(1)<rect/>alert(1)',
    '<metadata>evil</metadata>',
    '<rect data-evil="alert(1)"/>',
    '<rect ev:event="load"/>',
    '<rect tabindex="1" autofocus="" onfocusin="alert(1)"/>',
    '<svg onload="alert(1)"/>',
    '<g><svg xmlns="http://www.w3.org/1999/xhtml" onload="alert(1)"/></g>',
    '<symbol id="a" onload="alert(1)"/><use href="#a"/>',
    '<rect aria-label="&lt;script>alert(1)&lt;/script>"/>',
    '<rect xmlns:evil="http://evil" evil:onload="alert(1)"/>',
    '<rect xml:evil="alert(1)" xml:id="evil"/>',
    '<rect onload&#x3d;="1"/>'.replace('&#x3d;', ''),
  ],
};

describe('what a sanitized SVG does not hold', () => {
  for (const [kind, vectors] of Object.entries(dropped)) {
    it.each(vectors)(`${kind}: %s`, (vector) => {
      // Text that is shown as text is no harm, wherever it came from.
      const text = clean(whole(`${vector}<rect id="kept"/>`)).replaceAll(
        />[^<]*alert[^<]*</g,
        '><',
      );
      expect(text).not.toMatch(HARM);
      expect(text.endsWith('<rect id="kept"/></svg>')).toBe(true);
    });
  }

  it.each(HANDLERS)('the handler %s, on any element', (handler) => {
    const attribute = `${handler}="alert(1)"`;
    expect(clean(whole(`<g ${attribute}><text ${attribute}/></g>`, attribute))).not.toMatch(HARM);
  });

  it('what stands beside the root', () => {
    const document = `<?xml version="1.0"?><?evil alert(1)?><!-- evil -->${whole('')}<!-- evil -->`;
    expect(clean(document)).toBe('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>');
  });
});

describe('what an SVG is refused for', () => {
  const BITMAP = 'data:image/png;base64,iVBORw0KGgo=';

  it.each([
    ['a DOCTYPE', `<!DOCTYPE svg>${whole('')}`],
    [
      'a DOCTYPE from elsewhere',
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
    ['a bitmap by the old name', whole(`<image xlink:href="${BITMAP}"/>`)],
    ['a bitmap of any kind', whole('<image href=" DATA:application/octet-stream,x"/>')],
    ['an SVG in an SVG', whole('<image href="data:image/svg+xml,&lt;svg/>"/>')],
    ['a bitmap in a filter', whole(`<filter><feImage href="${BITMAP}"/></filter>`)],
    [
      'a bitmap in what is dropped',
      whole(`<foreignObject><image href="${BITMAP}"/></foreignObject>`),
    ],
    [
      'a bitmap in a pattern',
      whole(`<defs><pattern><image xlink:href="${BITMAP}"/></pattern></defs>`),
    ],
    ['a bitmap used', whole(`<use href="${BITMAP}"/>`)],
    ['a bitmap as paint', whole(`<rect fill="url(${BITMAP})"/>`)],
    ['a bitmap in a style', whole(`<rect style="background:url('${BITMAP}')"/>`)],
    ['a bitmap in a style sheet', whole(`<style>rect{background:url("${BITMAP}")}</style>`)],
  ])('%s: unsupported_media_type', (_, document) => {
    expect(refusal(document)).toBe('unsupported_media_type');
  });

  it.each([
    ['nothing', ''],
    ['an open element', '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><g>'],
    ['crossed elements', whole('<g><rect></g></rect>')],
    ['an attribute twice', whole('<g id="a" id="b"/>')],
    [
      'an attribute twice by namespace',
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
    ['a character by its forbidden number', whole('<text>&#0;</text>')],
    ['HTML', '<html><svg/></html>'],
    ['no namespace', '<svg viewBox="0 0 9 9"/>'],
    ['another namespace', '<svg xmlns="http://evil" viewBox="0 0 9 9"/>'],
    ['another root', '<g xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'],
    ['a link as root', '<a xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from(whole('').slice(0, -6)), Buffer.from([0xff, 0xc0])]),
    ],
    ['no size and no viewBox', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    [
      'a relative size alone',
      '<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="50%"/>',
    ],
    ['one side alone', '<svg xmlns="http://www.w3.org/2000/svg" width="10"/>'],
    ['a size of nothing', '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="10"/>'],
    ['a size beyond all', '<svg xmlns="http://www.w3.org/2000/svg" width="1e99" height="10"/>'],
    ['a viewBox of nothing', '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 0 9"/>'],
    ['a viewBox of words', '<svg xmlns="http://www.w3.org/2000/svg" viewBox="a b c d"/>'],
  ])('%s: decode_failed', (_, document) => {
    expect(refusal(document)).toBe('decode_failed');
  });
});
