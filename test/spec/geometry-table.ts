/**
 * Writes geometry.json: run `node test/spec/geometry-table.ts`, then the formatter. This file lists the sources and
 * chains; geometry-rules.ts computes the results. Spec: Delivery host, Transform operations; Output rules 1 to 4.
 */
import { writeFileSync } from 'node:fs';
import { judge } from './geometry-rules.ts';

type Group = { rule: string; sources: readonly string[]; chains: readonly string[] };

const groups: readonly Group[] = [
  {
    rule: 'a size, whatever the ratio of the source',
    sources: ['jpeg 4000x3000', 'png 999x1333', 'gif 401x301', 'svg 2048x1024', 'webp 3x7'],
    chains: [
      'format/webp',
      'resize/640x480',
      'resize/500x500',
      'resize/7x3',
      'resize/300x200/fill',
      'resize/300x200/crop',
      'resize/300x200/fit/crop',
      'resize/300x200/fit',
      'resize/200x300/fit/fit',
      'resize/300x200/smart',
      'resize/333x',
      'resize/x333',
      'resize/2x',
      'resize/1x',
      'resize/x1',
      'resize/1000x1/fit',
    ],
  },
  {
    rule: 'crop is a box of the source, before resizing',
    sources: ['jpeg 4000x3000', 'png alpha 640x481'],
    chains: [
      'crop/100,200,300,400',
      'crop/0,0,1,1',
      'crop/639,480,500,500',
      'crop/640,0,10,10',
      'crop/0,481,10,10',
      'crop/3999,2999,10,10',
      'crop/4000,0,1,1',
      'crop/0,0,0,10',
      'crop/0,0,10,0',
      'crop/0,0,999999999,999999999',
      'crop/100,200,300,200/resize/100x100',
      'resize/100x100/crop/100,200,300,200',
      'resize/x100/crop/100,200,301,200',
      'resize/100x/crop/101,200,301,200',
      'resize/50x80/fit/crop/10,20,300,200',
      'crop/100,200,300,200/resize/100x100/smart',
    ],
  },
  {
    rule: 'smart looks around the focal point, inside the region',
    sources: [
      'jpeg 4000x3000 focus 0/1,0/1',
      'jpeg 4000x3000 focus 1/1,1/1',
      'jpeg 4000x3000 focus 3/4,1/4',
      'jpeg 3001x4001 focus 1/8,3/8',
      'png 640x480 focus 3/4,1/4',
    ],
    chains: [
      'resize/500x500/smart',
      'resize/1600x900/fit/smart',
      'resize/90x160/smart',
      'resize/400x/smart',
      'crop/0,0,2000,1000/resize/100x100/smart',
      'crop/1000,1000,1001,501/resize/333x100/smart',
    ],
  },
  {
    rule: 'rule 3: 16 times the source area, or 2048x2048, whichever is larger',
    sources: [
      'png 1x1',
      'png 100x100',
      'png 511x513',
      'png 512x512',
      'jpeg 1000x1000',
      'jpeg 100x1000',
    ],
    chains: [
      'resize/2048x2048',
      'resize/2049x2048',
      'resize/2048x2049/smart',
      'resize/8192x512',
      'resize/8192x513',
      'resize/4000x4000',
      'resize/4000x4001',
      'resize/2048x',
      'resize/x2049',
      'resize/4001x',
      'resize/8192x4000/fit',
      'resize/8192x4001/fit',
      'crop/0,0,10,10/resize/2048x2048',
      'crop/0,0,10,10/resize/2100x2100',
    ],
  },
  {
    rule: 'rules 1 and 2: at most 8192 a side and 16,777,216 pixels, 12,000,000 in avif',
    sources: [
      'jpeg 4096x4096',
      'jpeg 12000x9000',
      'jpeg 9000x1000',
      'jpeg 1000x9000',
      'png 16000x8000',
      'png 5001x3355',
      'png lossless 20000x300',
    ],
    chains: [
      'quality/50',
      'format/avif',
      'resize/8192x8192',
      'resize/8192x',
      'resize/x8192',
      'resize/4096x4096',
      'resize/4096x4097',
      'resize/4097x4096/format/png',
      'resize/4000x3000/format/avif',
      'resize/4000x3001/format/avif',
      'resize/8192x2048/format/webp',
      'resize/8192x8191/fit/format/avif',
      'crop/0,0,8193,999',
    ],
  },
  {
    rule: 'rule 4: what is too slow to read is refused',
    sources: [
      'avif 5000x3000',
      'avif 5001x3000',
      'webp lossless alpha 5000x4500',
      'webp lossless alpha 5001x4500',
      'webp lossless 5000x5000',
      'webp lossless 5001x5000',
      'webp alpha 6000x6000',
      'png lossless alpha 10000x5000',
    ],
    chains: ['resize/100x100', 'format/png', 'crop/0,0,10,10', 'resize/4096x/format/jpeg'],
  },
  {
    rule: 'rule 4: very large avif and webp sources get smaller renders',
    sources: [
      'avif 4000x3000',
      'avif 4001x3000',
      'avif 3001x4001',
      'webp 4000x3000',
      'webp 4001x3000',
      'webp alpha 8000x4500',
      'webp lossless 4001x3000',
      'jpeg 4001x3000',
    ],
    chains: [
      'quality/60',
      'format/jpeg',
      'format/avif',
      'resize/2048x2048',
      'resize/2049x2048',
      'resize/8180x',
      'resize/3000x3000/fit',
      'crop/0,0,3000,2000',
    ],
  },
];

/** The content of geometry.json: each source with each chain. */
export function geometryRules() {
  return groups.map(({ rule, sources, chains }) => ({
    rule,
    cases: sources.flatMap((source) =>
      chains.map((chain) => [source, chain, judge(source, chain)]),
    ),
  }));
}

if (import.meta.main) {
  const heading = 'Delivery host, Transform operations; Output rules';
  const text = JSON.stringify({ heading, rules: geometryRules() }, null, 2);
  writeFileSync(new URL('geometry.json', import.meta.url), `${text}\n`);
}
