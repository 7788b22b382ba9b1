import { describe, expect, it } from 'vitest';
import { decideProject, type ProjectChange } from '../../../operator/project/decide.ts';
import { projectSpec } from '../../../operator/project/schema.ts';
import { parseBytes } from '../../../operator/quantity.ts';
import { gone, nobody, project, projectRow, projectRows, released, somebody } from '../samples.ts';

const absent = projectRows({ project: undefined });

function rowsOf(fields: Parameters<typeof projectRow>[0]) {
  return projectRows({ project: projectRow(fields) });
}

type Case = {
  name: string;
  spec?: object;
  rows: ReturnType<typeof projectRows>;
  changes: ProjectChange[];
};

const claim = {
  change: 'claim',
  deletion_policy: 'suspend',
  callback_rotation_trigger: null,
} as const;
const creation: ProjectChange[] = [
  { change: 'create', project_slug: 'shop', organization_id: 'org_1', settings: { name: 'shop' } },
  claim,
];
const key = { change: 'issue-signing-key' } as const;

const awake = { status: 'active', suspended_by: null } as const;
const stays = { suspended_by_deletion: false };
const awakened = { ...awake, ...stays };

function update(settings: object): ProjectChange {
  return { change: 'update', settings };
}

describe('a Project that does not exist yet', () => {
  const cases: Case[] = [
    {
      name: 'is created with its first signing key, and named after its slug',
      rows: absent,
      changes: [...creation, key],
    },
    {
      name: 'is created suspended if declared so',
      spec: { state: 'Suspended' },
      rows: absent,
      changes: [
        {
          change: 'create',
          project_slug: 'shop',
          organization_id: 'org_1',
          settings: { name: 'shop', status: 'suspended', suspended_by: 'owner' },
        },
        claim,
        key,
      ],
    },
    {
      name: 'is created with the declared settings',
      spec: {
        displayName: 'Shop',
        deliveryAccess: 'Protected',
        resolutionPresets: [{ name: 'thumb', chain: 'resize/200x200/smart' }],
        rawDownload: 'Enabled',
      },
      rows: absent,
      changes: [
        {
          change: 'create',
          project_slug: 'shop',
          organization_id: 'org_1',
          settings: {
            name: 'Shop',
            delivery_access: 'protected',
            resolution_presets: { thumb: 'resize/200x200/smart' },
            raw_download_enabled: true,
          },
        },
        claim,
        key,
      ],
    },
    {
      name: 'writes no setting that equals the default',
      spec: {
        deliveryAccess: 'Public',
        state: 'Active',
        rawDownload: 'Disabled',
        corsAllowedOrigins: [],
      },
      rows: absent,
      changes: [...creation, key],
    },
    {
      name: 'gets a callback secret, and records the rotation trigger',
      spec: { callback: { url: 'https://a.example/', secretName: 'hook', rotationTrigger: '1' } },
      rows: absent,
      changes: [
        creation[0] as ProjectChange,
        { ...claim, callback_rotation_trigger: '1' },
        {
          change: 'set-callback',
          callback_url: 'https://a.example/',
          rotation_trigger: '1',
          secret: 'new',
        },
        key,
      ],
    },
  ];
  it.each(cases)('$name', ({ spec, rows, changes }) => {
    expect(decideProject(project(spec), rows).changes).toEqual(changes);
  });
});

describe('a Project that exists', () => {
  const callback = { url: 'https://a.example/', secretName: 'hook', rotationTrigger: '2' };
  const called = { callback_url: 'https://a.example/', callback_rotation_trigger: '2' };
  const cases: Case[] = [
    { name: 'is not changed if it is as declared', rows: projectRows(), changes: [] },
    {
      name: 'keeps the settings from the API that the resource does not set',
      rows: rowsOf({
        name: 'Named by hand',
        delivery_access: 'protected',
        allowed_transform_chains: ['quality/1'],
        status: 'suspended',
        suspended_by: 'owner',
        callback_url: 'https://b.example/',
        custom_domains: ['img.shop.example'],
        pricing_multiplier: '2',
      }),
      changes: [],
    },
    {
      name: 'is corrected if it differs from its spec',
      spec: { deliveryAccess: 'Public' },
      rows: rowsOf({ delivery_access: 'protected' }),
      changes: [update({ delivery_access: 'public' })],
    },
    {
      name: 'is renamed',
      spec: { displayName: 'Shop' },
      rows: projectRows(),
      changes: [update({ name: 'Shop' })],
    },
    {
      name: 'is not changed if its presets are only stored in another order',
      spec: {
        resolutionPresets: [
          { name: 'b', chain: 'quality/2' },
          { name: 'a', chain: 'quality/1' },
        ],
      },
      rows: rowsOf({ resolution_presets: { a: 'quality/1', b: 'quality/2' } }),
      changes: [],
    },
    {
      name: 'is suspended by its owner',
      spec: { state: 'Suspended' },
      rows: projectRows(),
      changes: [update({ status: 'suspended', suspended_by: 'owner' })],
    },
    {
      name: 'is activated if its owner had suspended it',
      spec: { state: 'Active' },
      rows: rowsOf({ status: 'suspended', suspended_by: 'owner' }),
      changes: [update(awake)],
    },
    {
      name: 'stays suspended if staff suspended it, but gets its other settings',
      spec: { state: 'Active', displayName: 'Shop' },
      rows: rowsOf({ status: 'suspended', suspended_by: 'staff' }),
      changes: [update({ name: 'Shop' })],
    },
    {
      name: 'gets the default watermark that it names, once that exists',
      spec: { defaultWatermarkPresetRef: { name: 'logo' } },
      rows: projectRows({ default_watermark_preset_id: 'wm_1' }),
      changes: [update({ default_watermark_preset_id: 'wm_1' })],
    },
    {
      name: 'keeps its default watermark while the one that it names does not exist',
      spec: { defaultWatermarkPresetRef: { name: 'logo' } },
      rows: rowsOf({ default_watermark_preset_id: 'wm_1' }),
      changes: [],
    },
    {
      name: 'drops a default watermark whose resource is gone if it does not name it',
      rows: {
        ...rowsOf({ default_watermark_preset_id: 'wm_1' }),
        is_default_watermark_orphaned: true,
      },
      changes: [{ change: 'drop-watermark', settings: { default_watermark_preset_id: null } }],
    },
    {
      name: 'keeps its callback secret while the trigger is the same',
      spec: { callback },
      rows: rowsOf(called),
      changes: [],
    },
    {
      name: 'gets a new callback secret when the trigger changes',
      spec: { callback },
      rows: rowsOf({ ...called, callback_rotation_trigger: '1' }),
      changes: [
        {
          change: 'set-callback',
          callback_url: callback.url,
          rotation_trigger: '2',
          secret: 'new',
        },
      ],
    },
    {
      name: 'keeps its callback secret when only the URL changes',
      spec: { callback: { url: 'https://c.example/', secretName: 'hook' } },
      rows: rowsOf(called),
      changes: [
        {
          change: 'set-callback',
          callback_url: 'https://c.example/',
          rotation_trigger: '2',
          secret: 'keep',
        },
      ],
    },
    {
      name: 'gets a signing key if none is active',
      rows: rowsOf({ active_signing_kid: null }),
      changes: [key],
    },
    {
      name: 'gets the staff settings: domains, storage, and a price from the next full hour on',
      spec: {
        staff: {
          customDomains: ['img.shop.example'],
          storageHardLimit: '1Gi',
          pricingMultiplier: '1.50',
          nudityAutoBlock: 'Enabled',
        },
      },
      rows: projectRows(),
      changes: [
        update({ storage_hard_limit_bytes: 1073741824, nudity_auto_block: true }),
        { change: 'set-domains', domains: ['img.shop.example'] },
        {
          change: 'set-multiplier',
          multiplier: '1.50',
          effective_from: new Date('2026-11-20T11:00:00.000Z'),
        },
      ],
    },
    {
      name: 'gets the storage limit of its plan if the staff limit is empty',
      spec: { staff: { storageHardLimit: '' } },
      rows: rowsOf({ storage_hard_limit_bytes: 1073741824 }),
      changes: [update({ storage_hard_limit_bytes: null })],
    },
    {
      name: 'keeps the staff limit if none is declared',
      spec: { staff: {} },
      rows: rowsOf({ storage_hard_limit_bytes: 1073741824 }),
      changes: [],
    },
    {
      name: 'records a new deletion policy',
      spec: { deletionPolicy: 'Retain' },
      rows: projectRows(),
      changes: [{ ...claim, deletion_policy: 'retain' }],
    },
  ];
  it.each(cases)('$name', ({ spec, rows, changes }) => {
    expect(decideProject(project(spec), rows).changes).toEqual(changes);
  });

  it('compares numbers, not their spelling', () => {
    const spec = { staff: { pricingMultiplier: '1.50' } };
    const rows = rowsOf({ pricing_multiplier: '1.500000' });
    expect(decideProject(project(spec), rows).changes).toEqual([]);
  });
});

/** A Project with the same name, or another one that adopts the row. */
const owners = [
  ['under the same name', released],
  ['by adoption', { ...released, owner_namespace: 'old-team' }],
] as const;
const suspended = { status: 'suspended', suspended_by: 'owner' } as const;
const slept = { ...suspended, suspended_by_deletion: true };
const byStaff = { status: 'suspended', suspended_by: 'staff' } as const;

describe.each(owners)('a Project that is declared again %s', (_, owner) => {
  it.each<[was: string, row: object, state: string | undefined, settings: object | undefined]>([
    ['is activated if only its deletion suspended it', slept, undefined, awakened],
    ['is activated if only its deletion suspended it', slept, 'Active', awakened],
    ['stays suspended if only its deletion suspended it', slept, 'Suspended', stays],
    ['stays suspended if its owner had suspended it before', suspended, undefined, undefined],
    ['stays suspended if its owner had suspended it before', suspended, 'Suspended', undefined],
    ['is activated if its owner had suspended it before', suspended, 'Active', awake],
    ['stays suspended if staff suspended it', byStaff, undefined, undefined],
    ['stays suspended if staff suspended it', byStaff, 'Active', undefined],
    [
      'stays suspended if staff suspended it after its deletion',
      { ...slept, ...byStaff },
      'Active',
      undefined,
    ],
    ['stays active if it was activated in the meantime', {}, undefined, undefined],
    ['is suspended if it was activated in the meantime', {}, 'Suspended', suspended],
  ])('%s: %j, state %s', (_was, row, state, settings) => {
    const spec = { adoptionPolicy: 'IfUnowned', ...(state === undefined ? {} : { state }) };
    const { changes } = decideProject(project(spec), rowsOf({ ...owner, ...row }));
    expect(changes).toEqual(settings === undefined ? [claim] : [claim, update(settings)]);
  });
});

describe('taking over a project', () => {
  it('is refused if it was made through the API, unless adoption is declared', () => {
    const rows = rowsOf({ ...nobody, owner_deletion_policy: null });
    expect(decideProject(project(), rows).changes).toEqual([]);
    const adopting = project({ adoptionPolicy: 'IfUnowned' });
    expect(decideProject(adopting, rows).changes).toEqual([{ ...claim, change: 'adopt' }]);
  });

  it('is refused for a project of another organization with the message of a taken slug', () => {
    const rows = rowsOf({ ...nobody, organization_id: 'org_2' });
    const decision = decideProject(project({ adoptionPolicy: 'IfUnowned' }), rows);
    expect(decision.changes).toEqual([]);
    const theirs = rowsOf({ ...somebody, organization_id: 'org_2' });
    for (const { conditions } of [decision, decideProject(project(), theirs)]) {
      expect(conditions[0]).toMatchObject({
        ...{
          reason: 'SlugConflict',
          message: expect.stringMatching(/^the slug 'shop' is taken: /),
        },
      });
    }
  });

  it.each(owners)('rotates the callback secret only for a new trigger, %s', (_, owner) => {
    const [url, secretName] = ['https://a.example/', 'hook'];
    const rows = rowsOf({ ...owner, callback_url: url, callback_rotation_trigger: '1' });
    const decide = (rotationTrigger: string) => {
      const callback = { url, secretName, rotationTrigger };
      return decideProject(project({ adoptionPolicy: 'IfUnowned', callback }), rows).changes;
    };
    const taking = { ...claim, callback_rotation_trigger: '1' };
    expect(decide('1')).toEqual([taking]);
    const rotation = { change: 'set-callback', callback_url: url, rotation_trigger: '2' };
    expect(decide('2')).toEqual([taking, { ...rotation, secret: 'new' }]);
  });

  it('does not rotate an existing callback secret on adoption', () => {
    const rows = rowsOf({ ...nobody, callback_url: 'https://a.example/' });
    const spec = {
      adoptionPolicy: 'IfUnowned',
      callback: { url: 'https://a.example/', secretName: 'hook', rotationTrigger: '7' },
    };
    expect(decideProject(project(spec), rows).changes).toEqual([
      { ...claim, change: 'adopt', callback_rotation_trigger: '7' },
    ]);
  });
});

describe('a Project whose resource is gone', () => {
  const release = { change: 'release' } as const;

  it.each([
    { name: 'is suspended', rows: projectRows(), changes: [update(slept), release] },
    {
      name: 'is only released if its owner had suspended it',
      rows: rowsOf(suspended),
      changes: [release],
    },
    {
      name: 'is only released if staff had suspended it',
      rows: rowsOf(byStaff),
      changes: [release],
    },
    {
      name: 'is only released if its deletion policy is Retain',
      rows: rowsOf({ owner_deletion_policy: 'retain' }),
      changes: [release],
    },
    { name: 'is not changed if another resource owns it', rows: rowsOf(nobody), changes: [] },
    { name: 'needs no change if it never existed', rows: absent, changes: [] },
  ])('$name', ({ rows, changes }) => {
    expect(decideProject(gone('Project'), rows).changes).toEqual(changes);
  });

  it('follows the deletion policy of its last spec if that is known', () => {
    const { identity, spec } = project({ deletionPolicy: 'Retain' });
    const decision = decideProject({ action: 'delete', identity, spec }, projectRows());
    expect(decision.changes).toEqual([release]);
  });
});

it.each([
  ['0', 0],
  ['500M', 500_000_000],
  ['1Gi', 1_073_741_824],
  ['2Ti', 2_199_023_255_552],
  ['8191Ti', 8191 * 2 ** 40],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
])('the quantity %s is %d bytes', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes);
  expect(projectSpec.safeParse({ staff: { storageHardLimit: text } }).success).toBe(true);
});

it.each(['8192Ti', '9007199254740992', '9008T', '999999999999999Ti', '-1Gi', '1.5Gi', ' '])(
  'the limit %j is rejected, not truncated',
  (storageHardLimit) => {
    const { error } = projectSpec.safeParse({ staff: { storageHardLimit } });
    const words =
      'empty for that of the plan, or an amount of storage such as 500Mi or 1Gi, less than 8192Ti';
    expect(error?.issues.map(({ message }) => message)).toEqual([words]);
    expect(() => parseBytes(storageHardLimit)).toThrow('is not an amount of memory');
  },
);
