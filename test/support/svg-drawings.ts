/** SVG files as common editors and chart programs write them, with all their extra content. */

const X = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
const repeat = (count: number, print: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => print(at)).join('');

export type Sample = {
  name: string;
  document: string /** Set if browsers draw the file differently. */;
  only?: 'librsvg';
};

export const drawings: readonly Sample[] = [
  {
    name: 'Inkscape',
    document: `<?xml version="1.0" encoding="UTF-8" standalone="no"?><!-- Created with Inkscape (http://www.inkscape.org/) --><svg width="210mm" height="297mm" viewBox="0 0 210 297" version="1.1" id="svg5" inkscape:version="1.2.2" sodipodi:docname="a.svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd" ${X} xmlns:svg="http://www.w3.org/2000/svg"><sodipodi:namedview id="nv" pagecolor="#ffffff" inkscape:zoom="0.7"><inkscape:grid type="xygrid"/></sodipodi:namedview><metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description/></rdf:RDF></metadata><defs id="d"><linearGradient inkscape:collect="always" id="lg"><stop style="stop-color:#ff0000;stop-opacity:1;" offset="0" id="s1"/><stop style="stop-color:#0000ff;stop-opacity:0;" offset="1" id="s2"/></linearGradient><linearGradient inkscape:collect="always" xlink:href="#lg" id="lg2" x1="20" y1="40" x2="190" y2="40" gradientUnits="userSpaceOnUse"/></defs><g inkscape:label="Layer 1" inkscape:groupmode="layer" id="layer1"><rect style="fill:url(#lg2);stroke:#000000;stroke-width:2.6;stroke-linejoin:round;-inkscape-stroke:none;paint-order:stroke fill markers" id="r" width="170" height="90" x="20" y="30" ry="12" inkscape:export-filename="C:\\x.png"/><path sodipodi:type="star" style="fill:#ffcc00;fill-opacity:1" d="m 105,150 16,48 51,0 -41,30 15,49 -41,-30 -41,30 15,-49 -41,-30 51,0 z" id="p" inkscape:transform-center-y="-3"/><text xml:space="preserve" style="font-style:normal;font-size:16px;line-height:1.25;font-family:sans-serif;-inkscape-font-specification:'sans-serif, Bold';font-weight:bold" x="40" y="80" id="t"><tspan sodipodi:role="line" id="ts" x="40" y="80">Inkscape</tspan></text></g></svg>`,
  },
  {
    name: 'Illustrator',
    document: `<?xml version="1.0" encoding="utf-8"?><!-- Generator: Adobe Illustrator 27.0.0, SVG Export Plug-In . SVG Version: 6.00 Build 0)  --><svg version="1.1" id="Layer_1" ${X} x="0px" y="0px" viewBox="0 0 500 300" style="enable-background:new 0 0 500 300;" xml:space="preserve"><style type="text/css">
	.st0{fill:#E94F37;}
	.st1{fill:none;stroke:#1C1C1C;stroke-width:8;stroke-linecap:round;stroke-miterlimit:10;}
	.st2{fill:url(#SVGID_1_);}
	.st3{opacity:0.4;clip-path:url(#SVGID_3_);}
	.st4{font-family:'MyriadPro-Regular';} .st5{font-size:48px;}
</style><linearGradient id="SVGID_1_" gradientUnits="userSpaceOnUse" x1="20" y1="150" x2="240" y2="150"><stop  offset="0" style="stop-color:#FFFFFF"/><stop  offset="1" style="stop-color:#000000"/></linearGradient><g><rect x="20" y="40" class="st2" width="220" height="220"/><path class="st1" d="M280,60c40-40,120-40,160,0s40,120,0,160S320,260,280,220"/><defs><circle id="SVGID_2_" cx="130" cy="150" r="90"/></defs><clipPath id="SVGID_3_"><use xlink:href="#SVGID_2_"  style="overflow:visible;"/></clipPath><g class="st3"><polygon class="st0" points="20,40 240,40 20,260 	"/></g><text transform="matrix(1 0 0 1 300 160)" class="st4 st5">Ai</text></g></svg>`,
  },
  {
    name: 'Figma',
    document: `<svg width="120" height="120" viewBox="0 0 120 120" fill="none" ${X}><g filter="url(#filter0_d_1_2)"><g clip-path="url(#clip0_1_2)"><rect x="14" y="10" width="92" height="92" rx="16" fill="white"/><path fill-rule="evenodd" clip-rule="evenodd" d="M60 30C46 30 36 42 36 56C36 76 60 88 60 88C60 88 84 76 84 56C84 42 74 30 60 30ZM60 66C65.5 66 70 61.5 70 56C70 50.5 65.5 46 60 46C54.5 46 50 50.5 50 56C50 61.5 54.5 66 60 66Z" fill="url(#paint0_linear_1_2)"/></g></g><defs><filter id="filter0_d_1_2" x="4" y="4" width="112" height="112" filterUnits="userSpaceOnUse" color-interpolation-filters="sRGB"><feFlood flood-opacity="0" result="BackgroundImageFix"/><feColorMatrix in="SourceAlpha" type="matrix" values="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 127 0" result="hardAlpha"/><feOffset dy="4"/><feGaussianBlur stdDeviation="5"/><feColorMatrix type="matrix" values="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.25 0"/><feBlend mode="normal" in2="BackgroundImageFix" result="effect1_dropShadow_1_2"/><feBlend mode="normal" in="SourceGraphic" in2="effect1_dropShadow_1_2" result="shape"/></filter><linearGradient id="paint0_linear_1_2" x1="60" y1="30" x2="60" y2="88" gradientUnits="userSpaceOnUse"><stop stop-color="#7B61FF"/><stop offset="1" stop-color="#18A0FB"/></linearGradient><clipPath id="clip0_1_2"><rect x="14" y="10" width="92" height="92" rx="16" fill="white"/></clipPath></defs></svg>`,
  },
  {
    name: 'Figma, with masks',
    document: `<svg width="200" height="120" viewBox="0 0 200 120" fill="none" ${X}><mask id="mask0_1_3" style="mask-type:alpha" maskUnits="userSpaceOnUse" x="10" y="10" width="100" height="100"><circle cx="60" cy="60" r="50" fill="#D9D9D9"/></mask><g mask="url(#mask0_1_3)"><rect x="10" y="10" width="100" height="50" fill="#F24E1E"/><rect x="10" y="60" width="100" height="50" fill="#0ACF83"/></g><mask id="mask1" style="mask-type:luminance" maskUnits="userSpaceOnUse" x="110" y="0" width="90" height="120"><path d="M110 0H200V120H110V0Z" fill="white"/></mask><g mask="url(#mask1)"><path d="M100 60L160 10L220 60L160 110Z" fill="#1ABCFE"/></g></svg>`,
  },
  {
    name: 'Sketch',
    document: `<?xml version="1.0" encoding="UTF-8"?><svg width="96px" height="96px" viewBox="0 0 96 96" version="1.1" ${X}><!-- Generator: Sketch 63.1 (92452) - https://sketch.com --><title>icon/bell</title><desc>Created with Sketch.</desc><defs><path d="M48,8 C62,8 72,18 72,34 L72,58 L82,72 L14,72 L24,58 L24,34 C24,18 34,8 48,8 Z" id="path-1"></path></defs><g id="Page-1" stroke="none" stroke-width="1" fill="none" fill-rule="evenodd"><g id="bell"><mask id="mask-2" fill="white"><use xlink:href="#path-1"></use></mask><use id="Mask" fill="#D8D8D8" xlink:href="#path-1"></use><rect id="Rectangle" fill="#FF5A5F" mask="url(#mask-2)" x="0" y="0" width="96" height="50"></rect><circle id="Oval" fill="#484848" cx="48" cy="82" r="8"></circle></g></g></svg>`,
  },
  {
    name: 'draw.io, with HTML labels and their fallback',
    only: 'librsvg',
    document: `<svg ${X} version="1.1" width="241px" height="121px" viewBox="-0.5 -0.5 241 121" content="&lt;mxfile&gt;...&lt;/mxfile&gt;" style="background-color: rgb(255, 255, 255);"><defs/><g><rect x="0" y="0" width="120" height="60" rx="9" ry="9" fill="#dae8fc" stroke="#6c8ebf" pointer-events="all"/><g transform="translate(-0.5 -0.5)"><switch><foreignObject pointer-events="none" width="100%" height="100%" requiredFeatures="http://www.w3.org/TR/SVG11/feature#Extensibility" style="overflow: visible; text-align: left;"><div xmlns="http://www.w3.org/1999/xhtml" style="display: flex">Start</div></foreignObject><text x="60" y="34" fill="rgb(0, 0, 0)" font-family="Helvetica" font-size="12px" text-anchor="middle">Start</text></switch></g><path d="M 120 30 L 150 30 L 150 90 L 113 90" fill="none" stroke="rgb(0, 0, 0)" stroke-miterlimit="10" pointer-events="stroke"/><path d="M 108 90 L 115 86.5 L 113 90 L 115 93.5 Z" fill="rgb(0, 0, 0)" stroke="rgb(0, 0, 0)"/><path d="M 60 70 L 110 95 L 60 120 L 10 95 Z" fill="#fff2cc" stroke="#d6b656"/></g></svg>`,
  },
  {
    name: 'matplotlib',
    document: `<?xml version="1.0" encoding="utf-8" standalone="no"?><svg ${X} width="460.8pt" height="345.6pt" viewBox="0 0 460.8 345.6" version="1.1"><metadata><rdf:RDF xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cc="http://creativecommons.org/ns#" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><cc:Work><dc:date>2024-05-01T10:00:00</dc:date></cc:Work></rdf:RDF></metadata><defs><style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style></defs><g id="figure_1"><g id="patch_1"><path d="M 0 345.6 L 460.8 345.6 L 460.8 0 L 0 0 z" style="fill: #ffffff"/></g><g id="axes_1"><g id="matplotlib.axis_1"><g id="xtick_1"><g id="line2d_1"><defs><path id="m1" d="M 0 0 L 0 3.5 " style="stroke: #000000; stroke-width: 0.8"/></defs><g>${repeat(6, (at) => `<use xlink:href="#m1" x="${73 + at * 60}" y="307.5" style="stroke: #000000; stroke-width: 0.8"/>`)}</g></g></g></g><g id="line2d_8"><path d="M 73 290${repeat(40, (at) => ` L ${73 + at * 8} ${170 + Math.round(100 * Math.sin(at / 5))}`)}" clip-path="url(#pa)" style="fill: none; stroke: #1f77b4; stroke-width: 1.5; stroke-linecap: square"/></g><g id="PathCollection_1"><defs><path id="C0" d="M 0 3 C 0.8 3 1.6 2.7 2.1 2.1 C 2.7 1.6 3 0.8 3 0 C 3 -1.6 1.6 -3 0 -3 C -1.6 -3 -3 -1.6 -3 0 C -3 1.6 -1.6 3 0 3 z" style="stroke: #ff7f0e"/></defs><g clip-path="url(#pa)">${repeat(30, (at) => `<use xlink:href="#C0" x="${80 + at * 11}" y="${90 + ((at * 37) % 150)}" style="fill: #ff7f0e; stroke: #ff7f0e"/>`)}</g></g></g></g><defs><clipPath id="pa"><rect x="57.6" y="41.4" width="357.1" height="266.1"/></clipPath></defs></svg>`,
  },
  {
    name: 'D3, a bar chart with axes',
    document: `<svg ${X} width="460" height="220" font-family="sans-serif" font-size="10"><style>.bar{fill:steelblue}.bar:hover{fill:brown}.axis path,.axis line{fill:none;stroke:#000;shape-rendering:crispEdges}</style><g transform="translate(40,20)">${repeat(8, (at) => `<rect class="bar" x="${10 + at * 48}" y="${160 - ((at * 53) % 140)}" width="38" height="${(at * 53) % 140}"><title>${at}</title></rect>`)}<g class="axis axis--x" transform="translate(0,160)" fill="none" text-anchor="middle"><path class="domain" stroke="currentColor" d="M0.5,6V0.5H400.5V6"></path>${repeat(8, (at) => `<g class="tick" opacity="1" transform="translate(${29 + at * 48},0)"><line stroke="currentColor" y2="6"></line><text fill="currentColor" y="9" dy="0.71em">Q${at}</text></g>`)}</g></g></svg>`,
  },
  {
    name: 'D3, a force graph with arrows',
    document: `<svg ${X} viewBox="-150 -150 300 300"><defs><marker id="arrow" viewBox="0 -5 10 10" refX="20" refY="0" markerWidth="6" markerHeight="6" orient="auto"><path fill="#999" d="M0,-5L10,0L0,5"></path></marker></defs><g stroke="#999" stroke-opacity="0.6">${repeat(12, (at) => `<line x1="0" y1="0" x2="${Math.round(120 * Math.cos(at / 2))}" y2="${Math.round(120 * Math.sin(at / 2))}" marker-end="url(#arrow)" stroke-width="${1 + (at % 3)}"></line>`)}</g><g stroke="#fff" stroke-width="1.5">${repeat(12, (at) => `<circle r="8" cx="${Math.round(120 * Math.cos(at / 2))}" cy="${Math.round(120 * Math.sin(at / 2))}" fill="hsl(${at * 30}, 70%, 50%)"></circle>`)}</g></svg>`,
  },
  {
    name: 'a shield of a build',
    document: `<svg ${X} width="96" height="20" role="img" aria-label="build: passing"><title>build: passing</title><linearGradient id="s" x2="0" y2="100%"><stop offset="0" stop-color="#bbb" stop-opacity=".1"/><stop offset="1" stop-opacity=".1"/></linearGradient><clipPath id="r"><rect width="96" height="20" rx="3" fill="#fff"/></clipPath><g clip-path="url(#r)"><rect width="37" height="20" fill="#555"/><rect x="37" width="59" height="20" fill="#4c1"/><rect width="96" height="20" fill="url(#s)"/></g><g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" text-rendering="geometricPrecision" font-size="110"><text aria-hidden="true" x="195" y="150" fill="#010101" fill-opacity=".3" transform="scale(.1)" textLength="270">build</text><text x="195" y="140" transform="scale(.1)" fill="#fff" textLength="270">build</text><text x="655" y="140" transform="scale(.1)" fill="#fff" textLength="490">passing</text></g></svg>`,
  },
  {
    name: 'Feather',
    document: `<svg ${X} width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" class="feather feather-camera"><path d="M23 19a2 2 0 0 1-2 2H3a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2h4l2-3h6l2 3h4a2 2 0 0 1 2 2z"></path><circle cx="12" cy="13" r="4"></circle></svg>`,
  },
  {
    name: 'Material',
    document: `<svg ${X} height="24px" viewBox="0 0 24 24" width="24px" fill="#000000"><path d="M0 0h24v24H0z" fill="none"/><path d="M12 21.35l-1.45-1.32C5.4 15.36 2 12.28 2 8.5 2 5.42 4.42 3 7.5 3c1.74 0 3.41.81 4.5 2.09C13.09 3.81 14.76 3 16.5 3 19.58 3 22 5.42 22 8.5c0 3.78-3.4 6.86-8.55 11.54L12 21.35z"/></svg>`,
  },
  {
    name: 'Font Awesome',
    document: `<svg ${X} viewBox="0 0 512 512"><!--! Font Awesome Free by @fontawesome --><path d="M256 8C119 8 8 119 8 256s111 248 248 248 248-111 248-248S393 8 256 8zm0 448c-110.5 0-200-89.500-200-200S145.500 56 256 56s200 89.500 200 200-89.500 200-200 200z"/></svg>`,
  },
  {
    name: 'two tones of an icon',
    document: `<svg ${X} viewBox="0 0 448 512"><defs><style>.fa-secondary{opacity:.4}</style></defs><path d="M224 0L0 512h448z" class="fa-secondary"/><path d="M224 160L80 480h288z" class="fa-primary"/></svg>`,
  },
  {
    name: 'a sprite of symbols',
    document: `<svg ${X} viewBox="0 0 120 40"><symbol id="i-a" viewBox="0 0 16 16"><path d="M8 0l8 16H0z"/></symbol><symbol id="i-b" viewBox="0 0 32 16" preserveAspectRatio="none"><rect width="32" height="16" rx="4"/></symbol><use href="#i-a" width="40" height="40" fill="#c00"/><use xlink:href="#i-b" x="40" width="40" height="40" fill="#0a0"/><use href="#i-a" x="80" width="40" height="40" style="fill:#00c;opacity:.5"/></svg>`,
  },
  {
    name: 'potrace',
    document: `<svg version="1.0" ${X} width="300.000000pt" height="200.000000pt" viewBox="0 0 300.000000 200.000000" preserveAspectRatio="xMidYMid meet"><metadata>Created by potrace 1.16, written by Peter Selinger 2001-2019</metadata><g transform="translate(0.000000,200.000000) scale(0.100000,-0.100000)" fill="#000000" stroke="none"><path d="M1200 1700 c-300 -60 -500 -300 -520 -620 -20 -340 200 -640 560 -720 380 -80 760 160 840 540 90 420 -220 830 -640 840 -80 2 -180 -18 -240 -40z m360 -200 c220 -90 320 -340 230 -560 -90 -210 -330 -310 -540 -220 -220 90 -320 340 -230 560 90 210 330 310 540 220z"/></g></svg>`,
  },
  {
    name: 'gnuplot',
    document: `<?xml version="1.0" encoding="utf-8"  standalone="no"?><svg width="600" height="300" viewBox="0 0 600 300" ${X}><title>Gnuplot</title><desc>Produced by GNUPLOT 5.4</desc><g id="gnuplot_canvas"><rect x="0" y="0" width="600" height="300" fill="none"/><defs><circle id='gpDot' r='0.5' stroke-width='0.5' stroke='currentColor'/><path id='gpPt0' stroke-width='0.222' stroke='currentColor' d='M-1,0 h2 M0,-1 v2'/></defs><g fill="none" color="white" stroke="currentColor" stroke-width="1.00" stroke-linecap="butt" stroke-linejoin="miter"></g><g fill="none" color="gray" stroke="black" stroke-width="1.00"><path stroke='gray' stroke-dasharray='2,4' class="gridline" d='M54.53,247.20 L575.0,247.20  '/></g><g fill="none" color="black" stroke="rgb(148,   0, 211)" stroke-width="2"><path d='M54.5,200 L160.0,40.1 L260.8,160.4 L361.5,90.3 L575.0,220.1'/></g>${repeat(9, (at) => `<use xlink:href='#gpPt0' transform='translate(${90 + at * 50},${60 + ((at * 41) % 150)}) scale(6)' color='rgb(0,158,115)'/>`)}</g></svg>`,
  },
  {
    name: 'Graphviz',
    document: `<?xml version="1.0" encoding="UTF-8" standalone="no"?><!-- Generated by graphviz version 2.43.0 --><svg width="134pt" height="188pt" viewBox="0.00 0.00 134.00 188.00" ${X}><g id="graph0" class="graph" transform="scale(1 1) rotate(0) translate(4 184)"><title>G</title><polygon fill="white" stroke="transparent" points="-4,4 -4,-184 130,-184 130,4 -4,4"/><g id="node1" class="node"><title>a</title><g id="a_node1"><a xlink:href="https://example.com" xlink:title="a"><ellipse fill="lightblue" stroke="black" cx="63" cy="-162" rx="27" ry="18"/><text text-anchor="middle" x="63" y="-158.300" font-family="Times,serif" font-size="14.00">a</text></a></g></g><g id="edge1" class="edge"><path fill="none" stroke="black" d="M56.650,-144.050C53.290,-135.890 49.150,-125.910 45.380,-116.820"/><polygon fill="black" stroke="black" points="48.530,-115.270 41.470,-107.380 42.060,-117.960 48.530,-115.270"/></g></g></svg>`,
  },
  {
    name: 'Mermaid',
    only: 'librsvg',
    document: `<svg id="m" width="100%" ${X} viewBox="0 0 220 120"><style>#m{font-family:"trebuchet ms",verdana,arial,sans-serif;font-size:16px;fill:#333;}#m .node rect{fill:#ECECFF;stroke:#9370DB;stroke-width:1px;}#m .edgePath .path{stroke:#333333;stroke-width:2.0px;}#m .arrowheadPath{fill:#333333;}@keyframes edge{from{stroke-dashoffset:9}}</style><g class="edgePath"><path class="path" d="M70,60L150,60" marker-end="url(#ah)" style="fill:none"/><defs><marker id="ah" viewBox="0 0 10 10" refX="9" refY="5" markerUnits="strokeWidth" markerWidth="8" markerHeight="6" orient="auto"><path d="M 0 0 L 10 5 L 0 10 z" class="arrowheadPath" style="stroke-width: 1; stroke-dasharray: 1, 0;"/></marker></defs></g><g class="node"><rect rx="5" ry="5" x="10" y="40" width="60" height="40"/></g><g class="node"><rect x="150" y="40" width="60" height="40"/></g></svg>`,
  },
  {
    name: 'Excalidraw',
    document: `<svg version="1.1" ${X} viewBox="0 0 200 100" width="400" height="200"><!-- svg-source:excalidraw --><defs><style class="style-fonts">@font-face { font-family: "Virgil"; src: url("https://excalidraw.com/Virgil.woff2"); }</style></defs><rect x="0" y="0" width="200" height="100" fill="#ffffff"></rect><g stroke-linecap="round" transform="translate(10 10) rotate(0 80 40)"><path d="M0.8 1.2 C40 -1, 90 2, 160 0.4 M160 1 C158 30, 162 50, 159 79 M160 80 C100 82, 50 78, -1 81 M0 80 C2 60, -2 30, 1 1" stroke="#1e1e1e" stroke-width="2" fill="none"></path></g></svg>`,
  },
  {
    name: 'a pie chart',
    document: `<svg ${X} width="300" height="300"><g transform="translate(150,150)">${repeat(6, (at) => `<path d="M0 0L${(120 * Math.cos(at)).toFixed(2)} ${(120 * Math.sin(at)).toFixed(2)}A120 120 0 0 1 ${(120 * Math.cos(at + 1)).toFixed(2)} ${(120 * Math.sin(at + 1)).toFixed(2)}Z" fill="hsl(${at * 60},60%,55%)" stroke="#fff" stroke-width="2"/>`)}</g></svg>`,
  },
  {
    name: 'a gauge',
    document: `<svg ${X} viewBox="0 0 36 36"><path stroke="#eee" stroke-width="3.8" fill="none" d="M18 2.0845 a 15.9155 15.9155 0 0 1 0 31.831 a 15.9155 15.9155 0 0 1 0 -31.831"/><path stroke="#ff9f00" stroke-width="2.8" stroke-linecap="round" fill="none" stroke-dasharray="60, 100" d="M18 2.0845 a 15.9155 15.9155 0 0 1 0 31.831 a 15.9155 15.9155 0 0 1 0 -31.831"/><text x="18" y="20.350" fill="#666" font-family="sans-serif" font-size="8" text-anchor="middle">60%</text></svg>`,
  },
  {
    name: 'Highcharts',
    document: `<svg version="1.1" class="highcharts-root" style="font-family:'Lucida Grande','Lucida Sans Unicode',Arial,Helvetica,sans-serif;font-size:12px" ${X} width="400" height="240" viewBox="0 0 400 240"><desc>Created with Highcharts 9.0.0</desc><defs><clipPath id="highcharts-1"><rect x="0" y="0" width="340" height="160" fill="none"></rect></clipPath></defs><rect fill="#ffffff" class="highcharts-background" x="0" y="0" width="400" height="240" rx="0" ry="0"></rect><g class="highcharts-grid" data-z-index="1">${repeat(5, (at) => `<path fill="none" stroke="#e6e6e6" stroke-width="1" d="M 50 ${40.5 + at * 40} L 390 ${40.5 + at * 40}" opacity="1"></path>`)}</g><g class="highcharts-series" transform="translate(50,40) scale(1 1)" clip-path="url(#highcharts-1)"><path fill="rgba(124,181,236,0.75)" d="M 0 160 L 0 100 L 85 40 L 170 90 L 255 20 L 340 70 L 340 160 Z"></path><path fill="none" d="M 0 100 L 85 40 L 170 90 L 255 20 L 340 70" stroke="#7cb5ec" stroke-width="2" stroke-linejoin="round"></path></g><text x="200" text-anchor="middle" class="highcharts-title" style="color:#333333;font-size:18px;fill:#333333;" y="24"><tspan>Sales</tspan></text></svg>`,
  },
  {
    name: 'a flag',
    document: `<svg ${X} id="flag-icons-gb" viewBox="0 0 640 480"><path fill="#012169" d="M0 0h640v480H0z"/><path fill="#FFF" d="m75 0 244 181L562 0h78v62L400 241l240 178v61h-80L320 301 81 480H0v-60l239-178L0 64V0z"/><path fill="#C8102E" d="m424 281 216 159v40L369 281zm-184 20 6 35L54 480H0zM640 0v3L391 191l2-44L590 0zM0 0l239 176h-60L0 42z"/><path fill="#FFF" d="M241 0v480h160V0zM0 160v160h640V160z"/><path fill="#C8102E" d="M0 193v96h640v-96zM273 0v480h96V0z"/></svg>`,
  },
  {
    name: 'a turned hatching',
    document: `<svg ${X} width="200" height="100"><defs><pattern id="h" patternUnits="userSpaceOnUse" width="8" height="8" patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="8" stroke="#e67e22" stroke-width="4"/></pattern><pattern id="d" width=".1" height=".2"><circle cx="5" cy="5" r="4" fill="#2980b9"/></pattern></defs><rect x="5" y="5" width="90" height="90" fill="url(#h)"/><rect x="105" y="5" width="90" height="90" fill="url(#d)" stroke="#000"/></svg>`,
  },
  {
    name: 'grids within grids',
    document: `<svg ${X} width="300" height="200"><defs><pattern id="small" width="10" height="10" patternUnits="userSpaceOnUse"><path d="M 10 0 L 0 0 0 10" fill="none" stroke="gray" stroke-width="0.5"/></pattern><pattern id="grid" width="100" height="100" patternUnits="userSpaceOnUse"><rect width="100" height="100" fill="url(#small)"/><path d="M 100 0 L 0 0 0 100" fill="none" stroke="gray" stroke-width="1"/></pattern></defs><rect width="100%" height="100%" fill="url(#grid)"/></svg>`,
  },
  {
    name: 'a seal with text around it',
    document: `<svg ${X} viewBox="0 0 200 200"><defs><path id="c" d="M100,100 m-70,0 a70,70 0 1,1 140,0 a70,70 0 1,1 -140,0"/></defs><circle cx="100" cy="100" r="95" fill="#2c3e50"/><text fill="#fff" font-family="Georgia, serif" font-size="18" letter-spacing="3"><textPath xlink:href="#c" startOffset="0">ESTABLISHED · MCMXC · IN BERLIN ·</textPath></text><circle cx="100" cy="100" r="50" fill="none" stroke="#fff" stroke-width="3" stroke-dasharray="6 4"/></svg>`,
  },
  {
    name: 'styled by variables',
    document: `<svg ${X} viewBox="0 0 60 40" style="color:#8e44ad"><rect width="30" height="40" fill="currentColor"/><g color="teal"><rect x="30" width="30" height="40" fill="currentColor" stroke="currentcolor"/></g></svg>`,
  },
  {
    name: 'blends of colors',
    document: `<svg ${X} viewBox="0 0 120 120"><g style="isolation:isolate"><circle cx="45" cy="45" r="35" fill="#f0f" style="mix-blend-mode:multiply"/><circle cx="75" cy="45" r="35" fill="#0ff" style="mix-blend-mode:multiply"/><circle cx="60" cy="75" r="35" fill="#ff0" style="mix-blend-mode:multiply"/></g></svg>`,
  },
  {
    name: 'radial gradients with focus',
    document: `<svg ${X} viewBox="0 0 200 100"><defs><radialGradient id="a" cx="50%" cy="50%" r="50%" fx="25%" fy="25%"><stop offset="0%" stop-color="#fff"/><stop offset="100%" stop-color="#c0392b"/></radialGradient><radialGradient id="b" gradientUnits="userSpaceOnUse" cx="150" cy="50" r="20" spreadMethod="repeat"><stop offset="0" stop-color="#16a085"/><stop offset="1" stop-color="#f1c40f"/></radialGradient></defs><circle cx="50" cy="50" r="45" fill="url(#a)"/><rect x="105" y="5" width="90" height="90" fill="url(#b)"/></svg>`,
  },
  {
    name: 'a lit ball',
    document: `<svg ${X} viewBox="0 0 100 100"><filter id="l" x="0" y="0" width="100%" height="100%"><feGaussianBlur in="SourceAlpha" stdDeviation="4" result="b"/><feSpecularLighting in="b" surfaceScale="5" specularConstant=".75" specularExponent="20" lighting-color="#bbb" result="s"><fePointLight x="-50" y="-100" z="200"/></feSpecularLighting><feComposite in="s" in2="SourceAlpha" operator="in" result="s"/><feComposite in="SourceGraphic" in2="s" operator="arithmetic" k1="0" k2="1" k3="1" k4="0"/></filter><circle cx="50" cy="50" r="40" fill="#27ae60" filter="url(#l)"/></svg>`,
  },
  {
    name: 'markers of all kinds',
    document: `<svg ${X} viewBox="0 0 200 100"><defs><marker id="dot" markerWidth="8" markerHeight="8" refX="4" refY="4"><circle cx="4" cy="4" r="3" fill="#c0392b"/></marker><marker id="end" markerUnits="userSpaceOnUse" markerWidth="20" markerHeight="20" refX="10" refY="10" orient="auto-start-reverse"><path d="M0 0L20 10L0 20z"/></marker></defs><polyline points="20,80 60,20 100,80 140,20 180,80" fill="none" stroke="#34495e" stroke-width="3" style="marker-mid:url(#dot);marker-start:url(#end);marker-end:url(#end)"/></svg>`,
  },
  {
    name: 'clips in other units',
    document: `<svg ${X} viewBox="0 0 200 100"><clipPath id="a" clipPathUnits="objectBoundingBox"><path d="M.5 0L1 .5L.5 1L0 .5z"/></clipPath><clipPath id="b"><text x="110" y="70" font-size="60" font-weight="bold" font-family="sans-serif">AB</text></clipPath><rect width="100" height="100" fill="#9b59b6" clip-path="url(#a)"/><g clip-path="url(#b)"><rect x="100" width="100" height="50" fill="#e74c3c"/><rect x="100" y="50" width="100" height="50" fill="#3498db"/></g></svg>`,
  },
  {
    name: 'words in many ways',
    document: `<svg ${X} viewBox="0 0 300 160" font-family="sans-serif"><text x="10" y="30" font-size="24">Plain <tspan font-weight="bold">bold</tspan> <tspan font-style="italic" fill="#c00">italic</tspan></text><text x="150" y="60" text-anchor="middle" font-size="16" text-decoration="underline">in the middle</text><text x="10 30 50 70" y="90 95 100 105" font-size="20" rotate="10">abcd</text><text x="290" y="130" text-anchor="end" font-family="monospace" font-size="14">x = 42;</text><text x="10" y="150" stroke="#06c" fill="none" stroke-width=".7" font-size="28">hollow</text></svg>`,
  },
  {
    name: 'selectors of every kind',
    document: `<svg ${X} viewBox="0 0 120 40"><style>rect{fill:#ccc} .a .b{fill:red} g > rect.c{fill:green} #one{fill:blue} rect:nth-child(4){stroke:#000} rect[data-x]{opacity:.5} .d,.e{fill:orange} .e{fill:purple!important}</style><g class="a"><rect class="b" width="20" height="40"/><rect class="c" x="20" width="20" height="40"/><rect id="one" x="40" width="20" height="40"/><rect class="d" x="60" width="20" height="40"/><rect class="d e" x="80" width="20" height="40" style="fill:pink"/></g></svg>`,
  },
  {
    name: 'nested pictures and ratios',
    document: `<svg ${X} width="300" height="100"><svg x="0" width="100" height="100" viewBox="0 0 20 10" preserveAspectRatio="xMidYMid slice"><circle cx="10" cy="5" r="5" fill="#e67e22"/></svg><svg x="100" width="100" height="100" viewBox="0 0 20 10" preserveAspectRatio="xMinYMax meet"><rect width="20" height="10" fill="#1abc9c"/></svg><svg x="200" width="100" height="100" viewBox="0 0 20 10" preserveAspectRatio="none"><ellipse cx="10" cy="5" rx="10" ry="5" fill="#34495e"/></svg></svg>`,
  },
];
