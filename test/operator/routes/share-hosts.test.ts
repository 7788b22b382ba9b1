import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shareHosts } from '../../../operator/routes/share-hosts.ts';

const MOST = 3;
const ROUTES = 4;
const hosts = fc.uniqueArray(fc.constantFrom(...'abcdefghijkl'), { maxLength: MOST * ROUTES });

describe('hosts shared among routes of limited size', () => {
  it('are each in one route within its limit, and stay where they are', () => {
    fc.assert(
      fc.property(hosts, hosts, (before, after) => {
        const none = Array.from({ length: ROUTES }, () => []);
        const held = shareHosts(before, { held: none, most: MOST });
        const shares = shareHosts(after, { held, most: MOST });
        expect(shares.flat().sort()).toEqual(after.toSorted());
        for (const [route, share] of shares.entries()) {
          expect(share.length).toBeLessThanOrEqual(MOST);
          const kept = held[route]?.filter((host) => after.includes(host));
          expect(share).toEqual(expect.arrayContaining(kept ?? []));
        }
      }),
    );
  });

  it('are moved if they stand in two routes or in one that is too full', () => {
    const held = [['a', 'b'], ['a', 'c', 'd', 'e'], []];
    expect(shareHosts(['a', 'b', 'c', 'd', 'e', 'f'], { held, most: MOST })).toEqual([
      ['a', 'b', 'f'],
      ['c', 'd', 'e'],
      [],
    ]);
    const full = [['a', 'b', 'c', 'd'], [], []];
    expect(shareHosts(['a', 'b', 'c', 'd'], { held: full, most: MOST })).toEqual([
      ['a', 'b', 'c'],
      ['d'],
      [],
    ]);
  });
});
