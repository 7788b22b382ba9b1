// Spec: Limits, Identifiers and counts; Projects (project_slug: DNS label, not reserved).
import { describe, expect, it } from 'vitest';
import { parseProjectSlug, RESERVED_PROJECT_SLUGS } from '../../runtime/core/slug.ts';
import additions from './additions.json' with { type: 'json' };

describe('the reserved project slugs', () => {
  const reserved = additions.reserved_slugs.flatMap((row) => row.values);

  it('are those that the additions give a reason for', () => {
    expect(RESERVED_PROJECT_SLUGS).toEqual(reserved);
  });

  it('are rejected as project slugs', () => {
    expect(reserved.filter((slug) => parseProjectSlug(slug) !== undefined)).toEqual([]);
  });
});
