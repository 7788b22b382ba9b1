import { describe, expect, it } from 'vitest';
import {
  SVG_NAMESPACE,
  SVG_REFERENCE,
  svgAttributes,
  svgBitmapElements,
  svgCaps,
  svgElements,
  svgLayerProperties,
  svgProperties,
  svgReferringElements,
  svgStyleRefusals,
  svgTextElements,
  XLINK_NAMESPACE,
} from '../../../../runtime/core/image/svg-rules.ts';

describe('the SVG allowlists', () => {
  it.each([
    'script',
    'foreignObject',
    'iframe',
    'a',
    'image',
    'feImage',
    'animate',
    'animateMotion',
    'animateTransform',
    'set',
    'discard',
    'handler',
    'audio',
    'video',
    'font',
    'font-face',
    'view',
    'metadata',
  ])('exclude the element <%s>', (element) => {
    expect(svgElements.has(element)).toBe(false);
  });

  it('exclude attributes that run scripts, load or link', () => {
    const all = [...svgAttributes, ...svgProperties];
    expect(all.filter((name) => /^on/i.test(name))).toEqual([]);
    const loading = [
      'href',
      'src',
      'xlink:href',
      'xml:base',
      'target',
      'ping',
      'cursor',
      'content',
    ];
    expect(loading.filter((name) => all.includes(name))).toEqual([]);
  });

  it('treat image and feImage as the elements that can hold a bitmap', () => {
    expect([...svgBitmapElements].toSorted()).toEqual(['feImage', 'image']);
  });

  it('use the exact SVG and XLink namespaces', () => {
    expect(SVG_NAMESPACE).toBe('http://www.w3.org/2000/svg');
    expect(XLINK_NAMESPACE).toBe('http://www.w3.org/1999/xlink');
  });

  it('contain no empty name, and no name as both attribute and property', () => {
    for (const set of [svgElements, svgAttributes, svgProperties]) expect(set.has('')).toBe(false);
    expect([...svgAttributes].filter((name) => svgProperties.has(name))).toEqual([]);
  });

  it('contain the text and referring elements and the layer properties, but no bitmap element', () => {
    const kept = [...svgTextElements, ...svgReferringElements];
    expect(kept.filter((element) => !svgElements.has(element))).toEqual([]);
    expect([...svgLayerProperties].filter((name) => !svgProperties.has(name))).toEqual([]);
    expect([...svgBitmapElements].filter((element) => svgElements.has(element))).toEqual([]);
  });

  it.each(['#a', '#Gradient_1', '#a.b:c-d'])('permit a reference to %s', (reference) => {
    expect(SVG_REFERENCE.test(reference)).toBe(true);
  });

  it.each(['a', '#', '#1', '#a b', '#a)', 'x.svg#a', '//x/#a', 'data:,#a', 'javascript:1', '#a\n'])(
    'reject a reference to %j',
    (reference) => {
      expect(SVG_REFERENCE.test(reference)).toBe(false);
    },
  );
});

describe('the style rules of an SVG', () => {
  function isRefused(style: string): boolean {
    return svgStyleRefusals.some((refusal) => refusal.test(style));
  }

  it.each([
    'fill: red',
    'fill: url(#a)',
    "fill: url('#a') none",
    'mask: url( "#a" )',
    'font-family: "Source Sans", sans-serif',
    'transform: rotate(45deg)',
    'filter: drop-shadow(1px 1px 2px rgb(0 0 0 / 50%))',
    '@media (prefers-color-scheme: dark)',
  ])('permit %s', (style) => {
    expect(isRefused(style)).toBe(false);
  });

  it.each([
    'fill: url(http://x/#a)',
    'fill: url(//x)',
    'fill: url(x.svg#a)',
    'fill: url("data:image/png;base64,AA")',
    'fill: url()',
    'fill: url("")',
    "fill: url('#a)",
    'fill: url(#a',
    'fill: URL(x)',
    'fill: u\\72l(x)',
    'fill: \\75rl(x)',
    '@import "x.css"',
    '@font-face { src: url(x) }',
    '@namespace x "y"',
    'background: image-set("x" 1x)',
    'background: -webkit-image-set("x" 1x)',
    'background: src("x")',
    'width: expression(alert(1))',
    'fill: javascript:alert(1)',
    'fill: https://x',
    'content: attr(data-x)',
    '</style><script>',
  ])('reject %s', (style) => {
    expect(isRefused(style)).toBe(true);
  });
});

describe('the SVG caps', () => {
  it('are 2 MB, depth 64, 20,000 elements, 200 kB of text and 100 kB of style', () => {
    expect(svgCaps).toMatchObject({
      bytes: 2_000_000,
      depth: 64,
      elements: 20_000,
      text_bytes: 200_000,
      style_bytes: 100_000,
    });
  });

  it('are all greater than zero', () => {
    expect(Object.values(svgCaps).every((cap) => cap > 0)).toBe(true);
  });
});
