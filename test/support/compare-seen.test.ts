// Spec: Endpoints. Both an extra row and a missing row in the list of unseen answers must be reported.
import { describe, expect, it } from 'vitest';
import unseen from '../spec/unseen.json' with { type: 'json' };
import { compareSeen } from './compare-seen.ts';

describe('the list of responses that no test produces', () => {
  it('reports a listed response that a test has produced', () => {
    const row = { endpoint: 'GET /v1/me', status: 200, code: null };
    expect(compareSeen([row], [row])).toContain(
      'GET /v1/me: 200 was seen: remove it from test/spec/unseen.json',
    );
  });

  it('reports a listed error code that any endpoint has produced', () => {
    const row = { endpoint: 'GET /v1/me', status: 401, code: 'unauthorized' };
    expect(compareSeen([row], [{ ...row, endpoint: '*' }])).toContain(
      '*: 401 unauthorized was seen: remove it from test/spec/unseen.json',
    );
  });

  it('reports a response of an endpoint that is neither produced by a test nor listed', () => {
    const listed = unseen.filter(({ endpoint }) => endpoint !== 'GET /healthz');
    expect(compareSeen([], listed)).toContain(
      'GET /healthz: 200 was produced by no test and is not in test/spec/unseen.json',
    );
  });
});
