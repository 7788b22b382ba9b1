import { describe, expect, it } from 'vitest';
import {
  createProjectBody,
  patchProjectBody,
  patchStaffProjectBody,
} from '../../../../runtime/core/resources/project.ts';

function issues(
  schema: {
    safeParse(value: unknown): {
      error?: { issues: { path: PropertyKey[]; message: string }[] } | undefined;
    };
  },
  value: unknown,
) {
  return schema.safeParse(value).error?.issues.map(({ path }) => path.join('.')) ?? [];
}

describe('createProjectBody', () => {
  it('accepts slug as an alias of project_slug', () => {
    expect(createProjectBody.parse({ slug: 'shop' })).toEqual({ project_slug: 'shop' });
    expect(createProjectBody.parse({ slug: 'shop', project_slug: 'shop' })).toEqual({
      project_slug: 'shop',
    });
  });

  it('requires a slug and rejects two different ones', () => {
    expect(issues(createProjectBody, {})).toEqual(['project_slug']);
    expect(issues(createProjectBody, { slug: 'a', project_slug: 'b' })).toEqual(['slug']);
  });

  it('rejects an invalid or reserved slug', () => {
    for (const slug of ['Shop', 'api', '-a', '', 7, 'a'.repeat(64)]) {
      expect(issues(createProjectBody, { project_slug: slug })).toEqual(['project_slug']);
    }
  });

  it('accepts at most 32 presets with valid names and chains, and no nested preset', () => {
    const parse = (resolution_presets: unknown) =>
      issues(createProjectBody, { slug: 'a', resolution_presets });
    expect(parse({ thumb: 'resize/200x200/smart', 'x.2': 'format/webp' })).toEqual([]);
    expect(parse({ Thumb: 'resize/200x200' })).toEqual(['resolution_presets.Thumb']);
    expect(parse({ thumb: 'resize/0x0' })).toEqual(['resolution_presets.thumb']);
    expect(parse({ thumb: 'preset:other' })).toEqual(['resolution_presets.thumb']);
    const named = JSON.parse('{"a":"quality/1","__proto__":"quality/1"}');
    expect(parse(named)).toEqual(['resolution_presets.__proto__']);
    for (const presets of [named, { Thumb: 'quality/1' }, { '': 'quality/1' }]) {
      const sent = { slug: 'a', resolution_presets: presets };
      expect(createProjectBody.safeParse(sent).error?.issues.map(({ message }) => message)).toEqual(
        [expect.stringMatching(/^expected a name of lower-case letters, .* at most 64/)],
      );
    }
    const many = Object.fromEntries(
      Array.from({ length: 33 }, (_, at) => [`p${at}`, 'quality/50']),
    );
    expect(parse(many)).toEqual(['resolution_presets']);
    delete many.p0;
    expect(parse(many)).toEqual([]);
  });

  it('accepts at most 64 allowed chains and rejects an origin with a path', () => {
    const chains = Array.from({ length: 65 }, (_, at) => `quality/${at + 1}`);
    expect(issues(createProjectBody, { slug: 'a', allowed_transform_chains: chains })).toEqual([
      'allowed_transform_chains',
    ]);
    expect(
      issues(createProjectBody, { slug: 'a', allowed_transform_chains: chains.slice(1) }),
    ).toEqual([]);
    expect(
      issues(createProjectBody, { slug: 'a', cors_allowed_origins: ['https://a.example/x'] }),
    ).toEqual(['cors_allowed_origins.0']);
  });
});

describe('patchProjectBody', () => {
  it('accepts an empty body', () => {
    expect(patchProjectBody.parse({})).toEqual({});
  });

  it('reads project_default_watermark as an alias that an empty string clears', () => {
    expect(patchProjectBody.parse({ project_default_watermark: 'wm_1' })).toEqual({
      default_watermark_preset_id: 'wm_1',
    });
    expect(patchProjectBody.parse({ project_default_watermark: '' })).toEqual({
      default_watermark_preset_id: null,
    });
    const same = { project_default_watermark: '', default_watermark_preset_id: null };
    expect(patchProjectBody.parse(same)).toEqual({ default_watermark_preset_id: null });
  });

  it('rejects project_default_watermark if it differs from default_watermark_preset_id', () => {
    for (const default_watermark_preset_id of [null, 'wm_2']) {
      const both = { project_default_watermark: 'wm_1', default_watermark_preset_id };
      const { error } = patchProjectBody.safeParse(both);
      expect(error?.issues.map(({ path }) => path)).toEqual([['project_default_watermark']]);
    }
  });

  it('rejects fields that only staff may set', () => {
    expect(patchProjectBody.safeParse({ custom_domains: [] }).success).toBe(false);
    expect(patchProjectBody.safeParse({ nudity_auto_block: true }).success).toBe(false);
  });

  it('reads pricing_multiplier as an exact decimal from 0 to 1000', () => {
    expect(patchProjectBody.parse({ pricing_multiplier: 1.25 })).toEqual({
      pricing_multiplier: '1.25',
    });
    for (const wrong of [-1, '1', 1001, 1e-9]) {
      expect(issues(patchProjectBody, { pricing_multiplier: wrong })).toEqual([
        'pricing_multiplier',
      ]);
    }
  });

  it('clears callback_url and storage_hard_limit_bytes with null and rejects invalid values', () => {
    const cleared = { callback_url: null, storage_hard_limit_bytes: null };
    expect(patchProjectBody.parse(cleared)).toEqual(cleared);
    expect(issues(patchProjectBody, { callback_url: 'ftp://a.example' })).toEqual(['callback_url']);
    expect(issues(patchProjectBody, { storage_hard_limit_bytes: -1 })).toEqual([
      'storage_hard_limit_bytes',
    ]);
  });
});

describe('patchStaffProjectBody', () => {
  it('lower-cases custom domains, drops repeats, and accepts at most 32', () => {
    const parsed = patchStaffProjectBody.parse({
      custom_domains: ['IMG.shop.example', 'img.shop.example'],
    });
    expect(parsed.custom_domains).toEqual(['img.shop.example']);
    const many = Array.from({ length: 33 }, (_, at) => `i${at}.shop.example`);
    expect(issues(patchStaffProjectBody, { custom_domains: many })).toEqual(['custom_domains']);
  });
});
