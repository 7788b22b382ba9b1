// What a sanitized SVG may contain, as data. Spec: Limits, Uploads (SVG complexity); Processing error codes. Anything
// not listed is dropped; nothing listed can run code, load anything from elsewhere, or exceed the caps.
import {
  SVG_BYTES_MAX,
  SVG_CONVOLVE_ORDER_MAX,
  SVG_DEPTH_MAX,
  SVG_DRAWING_NS_MAX,
  SVG_ELEMENTS_MAX,
  SVG_EXPANDED_ELEMENTS_MAX,
  SVG_FILTER_RADIUS_MAX,
  SVG_LAYER_DEPTH_MAX,
  SVG_LAYERS_MAX,
  SVG_STYLE_BYTES_MAX,
  SVG_STYLE_MATCHES_MAX,
  SVG_TEXT_BYTES_MAX,
  SVG_TURBULENCE_OCTAVES_MAX,
} from '../limits.ts';

/** Elements that are kept, in the SVG namespace. Names are exact, because SVG is case-sensitive. */
export const svgElements = words(
  // structure
  'svg g defs symbol use switch title desc style',
  // shapes
  'path rect circle ellipse line polyline polygon',
  // text
  'text tspan textPath',
  // paint
  'linearGradient radialGradient stop pattern marker clipPath mask',
  // filters
  'filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix',
  'feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG',
  'feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight',
  'feSpecularLighting feSpotLight feTile feTurbulence',
);

/**
 * Elements that cause the whole file to be refused (`unsupported_media_type`) when their reference
 * is a data URL: an embedded bitmap. With any other reference they are dropped like unlisted
 * elements.
 */
export const svgBitmapElements = words('image feImage');

/** Elements whose text is kept; text anywhere else is dropped. */
export const svgTextElements = words('title desc style text tspan textPath');

/** Elements whose `href` is kept if it matches `SVG_REFERENCE`. */
export const svgReferringElements = words(
  'use textPath linearGradient radialGradient pattern filter',
);

/** Properties that make an element be drawn separately and then composed: each use is a layer. */
export const svgLayerProperties = words('opacity mask clip-path filter mix-blend-mode isolation');

/** Properties that select the font of a text. */
export const svgFontProperties = words(
  'font font-family font-size font-size-adjust font-stretch font-style font-variant font-weight',
);

/** An element of any other namespace is dropped with its content. */
export const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
/** The only other namespace from which an attribute is read: `xlink:href` is written as `href`. */
export const XLINK_NAMESPACE = 'http://www.w3.org/1999/xlink';

/** The references that are kept, in `href` and inside `url(…)`: to an element of the same file. */
export const SVG_REFERENCE = /^#[A-Za-z_][\w.:-]*$/;

/** CSS properties that are kept, in style sheets, `style` attributes and as attributes. */
export const svgProperties = words(
  // painting
  'fill fill-opacity fill-rule stroke stroke-dasharray stroke-dashoffset stroke-linecap',
  'stroke-linejoin stroke-miterlimit stroke-opacity stroke-width paint-order vector-effect color',
  'color-interpolation color-interpolation-filters stop-color stop-opacity flood-color',
  'flood-opacity lighting-color marker marker-end marker-mid marker-start shape-rendering',
  'image-rendering text-rendering',
  // layers
  'opacity mask mask-type clip-path clip-rule filter mix-blend-mode isolation',
  // box
  'display visibility overflow transform transform-box transform-origin',
  // text
  ...svgFontProperties,
  'letter-spacing word-spacing line-height text-anchor text-decoration alignment-baseline',
  'baseline-shift dominant-baseline direction unicode-bidi writing-mode white-space',
);

/** CSS functions that a value may call; `url` is judged by its target. */
export const svgFunctions = words(
  'rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix icc-color calc min max clamp var',
  'matrix translate translatex translatey scale scalex scaley rotate skew skewx skewy',
  'blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia',
  'circle ellipse inset path polygon',
);

/** Attributes that are kept on any listed element, besides `svgProperties` and `href`. */
export const svgAttributes = words(
  // any element
  'id class style lang role aria-label aria-labelledby aria-hidden',
  // coordinates and shapes
  'version width height viewBox preserveAspectRatio x y x1 x2 y1 y2 cx cy r rx ry d points pathLength',
  // text
  'dx dy rotate textLength lengthAdjust startOffset method spacing side',
  // paint
  'gradientUnits gradientTransform spreadMethod fx fy fr offset patternUnits patternContentUnits',
  'patternTransform clipPathUnits maskUnits maskContentUnits markerUnits markerWidth markerHeight',
  'orient refX refY',
  // filters
  'filterUnits primitiveUnits in in2 result amplitude azimuth baseFrequency bias diffuseConstant',
  'divisor edgeMode elevation exponent intercept k1 k2 k3 k4 kernelMatrix kernelUnitLength',
  'limitingConeAngle mode numOctaves operator order pointsAtX pointsAtY pointsAtZ preserveAlpha',
  'radius scale seed slope specularConstant specularExponent stdDeviation stitchTiles surfaceScale',
  'tableValues targetX targetY type values xChannelSelector yChannelSelector z',
  // style sheets and conditions
  'media systemLanguage',
);

/**
 * Patterns that drop a declaration or an at-rule, whatever its property: escapes and comments can
 * hide words, and the other words load or run something. `url(…)` must contain a reference.
 */
export const svgStyleRefusals: readonly RegExp[] = [
  /\\/,
  /[<>]/,
  /@(?!media\b)/i,
  /\b(?:expression|image|image-set|cross-fade|element|paint|src|attr|env)\s*\(/i,
  // A scheme, also right after a digit; `profile:hover` is not one.
  /(?<![a-z_])(?:javascript|vbscript|data|https?|file)\s*:/i,
  /\burl\s*\((?!\s*(?:#[A-Za-z_][\w.:-]*|"#[A-Za-z_][\w.:-]*"|'#[A-Za-z_][\w.:-]*')\s*\))/i,
];

/** Caps: a file that exceeds one is refused with `image_too_large`. */
export const svgCaps = {
  bytes: SVG_BYTES_MAX,
  depth: SVG_DEPTH_MAX,
  elements: SVG_ELEMENTS_MAX,
  expanded_elements: SVG_EXPANDED_ELEMENTS_MAX,
  text_bytes: SVG_TEXT_BYTES_MAX,
  style_bytes: SVG_STYLE_BYTES_MAX,
  layers: SVG_LAYERS_MAX,
  layer_depth: SVG_LAYER_DEPTH_MAX,
  style_matches: SVG_STYLE_MATCHES_MAX,
  drawing_ns: SVG_DRAWING_NS_MAX,
  filter_radius: SVG_FILTER_RADIUS_MAX,
  turbulence_octaves: SVG_TURBULENCE_OCTAVES_MAX,
  convolve_order: SVG_CONVOLVE_ORDER_MAX,
} as const;

function words(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(' '));
}
