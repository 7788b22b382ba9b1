// No kind of token is accepted as another. For access tokens, see the tests of runtime/platform.
import { describe, expect, it } from 'vitest';
import { deriveKey } from '../../../../runtime/core/signing/hmac.ts';
import {
  type Kind,
  keyKinds,
  offersOf,
  ownKinds,
  specifiedKinds,
} from '../../../support/token-kinds.ts';

function expectNoCrossUse(kinds: Kind[]): void {
  for (const verifier of kinds) {
    for (const kind of kinds) {
      const offers = kind === verifier ? [kind.token] : offersOf(kind.token);
      for (const offer of offers) {
        const name = `${kind.name} offered to ${verifier.name}: ${offer}`;
        expect(verifier.verifies(offer), name).toBe(kind === verifier);
      }
    }
  }
}

describe('every kind of token', () => {
  const master = Buffer.from(Array.from({ length: 32 }, (_, i) => i));

  it('is accepted by its own verifier and, whole or in parts, by no other', () => {
    const own = ownKinds((prefix) => deriveKey(master, prefix));
    expectNoCrossUse([...own, ...specifiedKinds(), ...keyKinds()]);
  });
  it('is distinguished by its prefix even if all kinds share one key', () => {
    expectNoCrossUse(ownKinds(() => master));
  });
});
