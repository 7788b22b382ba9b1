import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { printFault } from '../../../operator/files/fault.ts';
import { loadFolder } from '../../../operator/files/load.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-load-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function load(files: Record<string, string | Buffer>) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const loaded = await loadFolder(folder, 'org_1');
  return {
    ...loaded,
    names: loaded.resources.map(({ identity }) => `${identity.kind}/${identity.name}`),
    faultLines: loaded.faults.map(printFault),
    noteLines: loaded.notes.map((note) => printFault({ ...note, path: '' })),
  };
}

function project(name: string, spec = ''): string {
  const fields = spec === '' ? 'spec: {}' : `spec:\n${spec}`;
  return `apiVersion: tintype.dev/v1alpha1\nkind: Project\nmetadata:\n  name: ${name}\n${fields}\n`;
}

describe('reading a folder of YAML', () => {
  it('reads every document of every YAML file on the top level, in the order of the file names', async () => {
    const { names, faultLines, noteLines, isComplete } = await load({
      'b.yml': project('three'),
      'a.yaml': `${project('one')}---\n${project('two')}---\n`,
      '.hidden.yaml': 'not: read',
      'notes.txt': 'not read either',
    });
    expect(names).toEqual(['Project/one', 'Project/two', 'Project/three']);
    expect([...faultLines, ...noteLines]).toEqual([]);
    expect(isComplete).toBe(true);
  });

  it('rejects the second of two projects whose callback secrets would be written to the same file', async () => {
    const callback = '  callback: { url: "https://shop.example/hook", secretName: hook }';
    const { names, faultLines, present } = await load({
      'a.yaml': project('one', callback),
      'b.yaml': project('two', callback),
    });
    expect(names).toEqual(['Project/one']);
    // The rejected resource still counts as present, so what it declared before stays.
    expect(present.size).toBe(2);
    expect(faultLines).toEqual([
      'b.yaml:6: spec.callback.secretName: expected a name that no other Project uses: the key of the Project at a.yaml:1 is written there',
    ]);
  });

  const annotated = (annotations: string) =>
    project('one').replace('  name: one\n', `  name: one\n  annotations: { ${annotations} }\n`);

  it.each(['paused: "true"', 'plan-only: "true"', 'paused: true', 'plan-only: yes'])(
    'rejects a document with the annotation %s, which works only in a cluster',
    async (asked) => {
      const { names, faultLines, present } = await load({
        'a.yaml': annotated(`tintype.dev/${asked}, other: "true"`),
      });
      expect(names).toEqual([]);
      expect(present.size).toBe(1);
      expect(faultLines).toEqual([
        expect.stringMatching(/^a\.yaml:5: .*works only in a cluster.*until it is removed/),
      ]);
    },
  );

  it.each(['', 'other: "true"', 'tintype.dev/paused: "false"', 'tintype.dev/plan-only:'])(
    'accepts a document with the annotations { %s }, which ask for nothing',
    async (annotations) => {
      const { names, faultLines } = await load({ 'a.yaml': annotated(annotations) });
      expect([names, faultLines]).toEqual([['Project/one'], []]);
    },
  );

  it('accepts two projects with the same secretName if one has no callback URL', async () => {
    const { names, faultLines } = await load({
      'a.yaml': project('one', '  callback: { url: "", secretName: hook }'),
      'b.yaml': project('two', '  callback: { url: "https://shop.example", secretName: hook }'),
    });
    expect([names, faultLines]).toEqual([['Project/one', 'Project/two'], []]);
  });

  it('reads each item of a List as kubectl prints it, and reports faults with their lines', async () => {
    const item = (name: string, spec: string) =>
      `- apiVersion: tintype.dev/v1alpha1\n  kind: Project\n  metadata: { name: ${name} }\n  spec: ${spec}\n`;
    const list = 'apiVersion: v1\nkind: List\nmetadata: { resourceVersion: "" }\nitems:\n';
    const { names, faultLines, noteLines, present, isComplete } = await load({
      'a.yaml': `${list}${item('one', '{}')}${item('two', '\n    state: Off')}- { apiVersion: v1, kind: Secret }\n`,
      'b.yaml': 'apiVersion: v1\nkind: List\nitems: []\n',
    });
    expect(names).toEqual(['Project/one']);
    expect(faultLines).toEqual(['a.yaml:13: spec.state: expected Active or Suspended, got "Off"']);
    expect(noteLines).toEqual(['a.yaml:14: skipped: v1 Secret is not a resource of tintype.dev']);
    expect([present.size, isComplete]).toEqual([2, true]);
  });

  it.each(['', ' \n'])(
    'takes nothing for gone while a file is empty, as it is for a moment when an editor saves it: %j',
    async (text) => {
      const { names, faultLines, isComplete } = await load({
        'a.yaml': text,
        'b.yaml': project('two'),
      });
      const fault = 'a.yaml: expected a document; to delete what it declared, delete the file';
      expect([names, faultLines, isComplete]).toEqual([['Project/two'], [fault], false]);
    },
  );

  it('shows the beginning of a long value, without splitting a character', async () => {
    const begin = `${'o'.repeat(58)}😀`;
    const { faultLines } = await load({ 'a.yaml': project('one', `  state: ${begin}ff`) });
    expect(faultLines).toEqual([
      `a.yaml:6: spec.state: expected Active or Suspended, got "${begin}…`,
    ]);
  });

  it('treats a field without a value as left out', async () => {
    const spec =
      '  displayName:\n  routing: null\n  adoptionPolicy: ~\n  staff: { customDomains: }';
    const { resources, faultLines, noteLines } = await load({ 'a.yaml': project('one', spec) });
    expect([...faultLines, ...noteLines]).toEqual([]);
    expect(resources[0]?.spec).toEqual({
      ...{ staff: {}, adoptionPolicy: 'Never', deletionPolicy: 'Suspend' },
    });
  });

  it('reads the samples without faults and notes', async () => {
    const samples = new URL('../../../config/samples', import.meta.url).pathname;
    const { resources, faults, notes } = await loadFolder(samples, 'org_1');
    expect([...faults, ...notes]).toEqual([]);
    expect(resources.map(({ identity }) => identity.kind).sort()).toEqual([
      'Project',
      'Recipe',
      'SigningKey',
      'WatermarkPreset',
    ]);
  });

  it('accepts metadata and status of the API server, as kubectl prints them', async () => {
    const { names, faultLines } = await load({
      'a.yaml': `${project('one').replace('  name: one', '  name: one\n  uid: 1\n  labels: { a: b }')}status: { observedGeneration: 1 }\n`,
    });
    expect([names, faultLines]).toEqual([['Project/one'], []]);
  });

  it('gives a resource a uid that depends only on its namespace, kind and name', async () => {
    const [before] = (await load({ 'a.yaml': project('one') })).resources;
    const [after] = (await load({ 'a.yaml': project('one', '  displayName: Other') })).resources;
    expect(after?.identity).toEqual(before?.identity);
    expect(before?.identity.uid).toMatch(/^folder-[0-9a-f]{32}$/);
    const [elsewhere] = (await loadFolder(folder, 'org_2')).resources;
    expect(elsewhere?.identity.uid).not.toBe(before?.identity.uid);
  });
});

describe('the faults of an invalid document', () => {
  const cases: { name: string; spec: string; says: string[] }[] = [
    {
      name: 'an unknown enum value',
      spec: '  deliveryAccess: open',
      says: ['a.yaml:6: spec.deliveryAccess: expected Public or Protected, got "open"'],
    },
    {
      name: 'a field that does not exist',
      spec: '  displayName: Shop\n  callback:\n    url: https://shop.example/hook\n    secret: shop',
      says: [
        'a.yaml:7: spec.callback.secretName: missing, expected the name of the Secret that the operator writes',
        'a.yaml:9: spec.callback.secret: unknown field, expected only the fields url, secretName, rotationTrigger',
      ],
    },
    {
      name: 'a chain that does not parse',
      spec: '  resolutionPresets:\n    - name: thumb\n      chain: resize/axb',
      says: [
        'a.yaml:8: spec.resolutionPresets[0].chain: expected a transform chain, for example resize/640x480/format/webp ("resize/axb" cannot be read), got "resize/axb"',
      ],
    },
    {
      name: 'an operation twice in a chain',
      spec: '  resolutionPresets:\n    - name: thumb\n      chain: resize/9x9/format/webp/resize/8x8',
      says: [
        'a.yaml:8: spec.resolutionPresets[0].chain: expected a transform chain, for example resize/640x480/format/webp ("resize/8x8" cannot be read), got "resize/9x9/format/webp/resize/8x8"',
      ],
    },
    {
      name: 'a preset inside a preset',
      spec: '  resolutionPresets:\n    - { name: thumb, chain: "preset:hero" }',
      says: [
        'a.yaml:7: spec.resolutionPresets[0].chain: expected a transform chain without preset:, as presets do not nest, got "preset:hero"',
      ],
    },
    {
      name: 'a name twice in a list',
      spec: '  resolutionPresets:\n    - { name: a, chain: quality/1 }\n    - { name: a, chain: quality/2 }',
      says: [
        'a.yaml:8: spec.resolutionPresets[1].name: expected each only once, and this repeats item 0, got "a"',
      ],
    },
    {
      name: 'a number instead of a text',
      spec: '  staff:\n    pricingMultiplier: 1.5',
      says: [
        'a.yaml:7: spec.staff.pricingMultiplier: expected a number in quotes such as "1.5": 0 to 1000, at most 6 decimals, got 1.5',
      ],
    },
    {
      name: 'a map instead of a list',
      spec: '  allowedTransformChains: { a: b }',
      says: [
        'a.yaml:6: spec.allowedTransformChains: expected a list of at most 64 transform chains, got { a }',
      ],
    },
    ...['a\0b', 'a\ud800'].map((trigger) => ({
      name: `a rotation trigger that the database cannot store: ${JSON.stringify(trigger)}`,
      spec: `  callback: { url: "", rotationTrigger: ${JSON.stringify(trigger)} }`,
      says: [
        `a.yaml:6: spec.callback.rotationTrigger: expected a text of 1 to 128 characters without U+0000, in quotes where it looks like a number, got ${JSON.stringify(trigger)}`,
      ],
    })),
    {
      name: 'a missing value, also in a list',
      spec: '  callback: { url: }\n  warmPresets: [null]\n  nonsense:',
      says: [
        'a.yaml:6: spec.callback.url: expected empty for none, or an https URL of at most 2048 characters, its host in ASCII, got nothing',
        'a.yaml:7: spec.warmPresets[0]: expected a name: lower case letters, digits, ".", "_" and "-", at most 64, got nothing',
        'a.yaml:8: spec.nonsense: unknown field, expected only the fields slug, displayName, deliveryAccess, state, corsAllowedOrigins, resolutionPresets, allowedTransformChains, defaultWatermarkPresetRef, rawDownload, callback, warmPresets, routing, staff, deletionPolicy, adoptionPolicy',
      ],
    },
    {
      name: 'an address that is not in its canonical form',
      spec: '  corsAllowedOrigins: ["https://Shop.example", "https://[::x]"]\n  callback: { url: "https://[0::1]/hook", secretName: a }',
      says: [
        'a.yaml:6: spec.corsAllowedOrigins[0]: expected an origin such as https://shop.example, or * for all (it is written https://shop.example), got "https://Shop.example"',
        'a.yaml:6: spec.corsAllowedOrigins[1]: expected an origin such as https://shop.example, or * for all, got "https://[::x]"',
        'a.yaml:7: spec.callback.url: expected empty for none, or an https URL of at most 2048 characters, its host in ASCII (its host is written [::1]), got "https://[0::1]/hook"',
      ],
    },
    {
      name: 'a warm preset that the project does not have',
      spec: '  resolutionPresets:\n    - { name: a, chain: quality/1 }\n  warmPresets: [b]',
      says: [
        'a.yaml:8: spec.warmPresets[0]: expected the name of one of the resolutionPresets, got "b"',
      ],
    },
  ];

  it.each(cases)('$name', async ({ spec, says }) => {
    const { faultLines, names, isComplete } = await load({
      'a.yaml': project('one', spec),
      'b.yaml': project('two'),
    });
    expect(faultLines).toEqual(says);
    expect(names).toEqual(['Project/two']);
    expect(isComplete).toBe(true);
  });

  it('name the line in the second document of a file, and leave the first document valid', async () => {
    const { faultLines, names, present } = await load({
      'a.yaml': `${project('one')}---\n${project('two', '  state: Off')}`,
    });
    expect(faultLines).toEqual(['a.yaml:12: spec.state: expected Active or Suspended, got "Off"']);
    expect(names).toEqual(['Project/one']);
    expect(present.size).toBe(2);
  });

  it('say what is missing if a document is no resource', async () => {
    const { faultLines } = await load({ 'a.yaml': 'just text\n', 'b.yaml': 'kind: Project\n' });
    expect(faultLines).toEqual([
      'a.yaml:1: expected a resource with apiVersion, kind, metadata and spec, got "just text"',
      'b.yaml:1: apiVersion: missing, expected tintype.dev/v1alpha1',
    ]);
  });

  it('name the expected apiVersion', async () => {
    const { faultLines } = await load({
      'a.yaml': project('one').replace('v1alpha1', 'v2'),
    });
    expect(faultLines).toEqual([
      'a.yaml:1: apiVersion: expected tintype.dev/v1alpha1, got "tintype.dev/v2"',
    ]);
  });

  it.each(['tintype.dev', 'tintype.io/v1alpha1', 'Tintype.dev/v1alpha1'])(
    'report %s as a misspelled apiVersion, not as a foreign resource',
    async (apiVersion) => {
      const { faultLines, noteLines, present } = await load({
        'a.yaml': project('one').replace('tintype.dev/v1alpha1', apiVersion),
      });
      expect(faultLines).toEqual([
        `a.yaml:1: apiVersion: expected tintype.dev/v1alpha1, got "${apiVersion}"`,
      ]);
      expect([noteLines, present.size]).toEqual([[], 1]);
    },
  );

  it('name the missing fileSlug of a watermark preset without a file', async () => {
    const { faultLines } = await load({
      'a.yaml':
        'apiVersion: tintype.dev/v1alpha1\nkind: WatermarkPreset\nmetadata:\n  name: logo\nspec:\n  projectRef: { name: demo }\n',
    });
    expect(faultLines).toEqual([
      'a.yaml:5: spec.fileSlug: missing, expected fileSlug, the file that is drawn',
    ]);
  });
});

describe('loading unreadable files and documents', () => {
  it('reports a file that is not YAML with its line, and treats no resource as removed', async () => {
    const { faultLines, names, isComplete } = await load({
      'a.yaml': 'kind: Project\nspec: [1, 2\n',
      'b.yaml': project('two'),
    });
    expect(faultLines).toHaveLength(1);
    expect(faultLines[0]).toMatch(/^a\.yaml:[23]: expected YAML: /);
    expect(names).toEqual(['Project/two']);
    expect(isComplete).toBe(false);
  });

  it('reports a duplicate field', async () => {
    const { faultLines } = await load({ 'a.yaml': 'kind: Project\nkind: Recipe\n' });
    expect(faultLines).toEqual(['a.yaml:2: expected YAML: Map keys must be unique']);
  });

  it('treats no resource as removed if a document does not say which resource it is', async () => {
    const { faultLines, isComplete } = await load({ 'a.yaml': project('Not_A_Name') });
    expect(faultLines).toEqual([
      'a.yaml:4: metadata.name: expected a name: a-z, 0-9, "-" and ".", with a letter or digit at the ends and around each ".", got "Not_A_Name"',
    ]);
    expect(isComplete).toBe(false);
  });

  it.each([
    ['nothing', ''],
    ['a list of 0', ' [{ apiVersion: v1, kind: List, items: [] }]'],
    ['{ a }', ' { a: b }'],
  ])('rejects a List of %s, and treats no resource as removed', async (got, items) => {
    const list = `apiVersion: v1\nkind: List\nitems:${items}\n`;
    const { faultLines, isComplete } = await load({ 'a.yaml': list });
    expect(faultLines).toEqual([
      `a.yaml:3: items: expected a list of resources, in a List that is not itself an item, got ${got}`,
    ]);
    expect(isComplete).toBe(false);
  });

  it('rejects a file whose aliases expand exponentially', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef']) {
      bomb.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(', ')}]`);
    }
    const { faultLines } = await load({ 'a.yaml': bomb.join('\n') });
    expect(faultLines).toHaveLength(1);
    expect(faultLines[0]).toMatch(/^a\.yaml:1: expected YAML: .*alias/);
  });

  it('rejects files that are not UTF-8 text or too large, by name', async () => {
    const { faultLines, isComplete } = await load({
      'a.yaml': Buffer.from([0xff, 0xfe, 0x00]),
      'b.yaml': Buffer.alloc(1024 * 1024 + 1, '#'),
    });
    expect(faultLines).toEqual([
      'a.yaml: cannot be read (ERR_ENCODING_INVALID_ENCODED_DATA), expected a text file in UTF-8',
      'b.yaml: expected at most 1048576 bytes, got 1048577',
    ]);
    expect(isComplete).toBe(false);
  });

  it('reports a missing folder in one line that says what to do', async () => {
    const { faults, isComplete, resources } = await loadFolder('/nowhere/at/all', 'org_1');
    expect(faults.map(printFault)).toEqual([
      '/nowhere/at/all: cannot be read (ENOENT), expected a folder of *.yaml files; create it, or name another one with --config',
    ]);
    expect([isComplete, resources]).toEqual([false, []]);
  });

  it('rejects a folder that is named like a YAML file', async () => {
    await mkdir(join(folder, 'a.yaml'));
    const { faultLines } = await load({ 'b.yaml': project('one') });
    expect(faultLines).toEqual(['a.yaml: cannot be read (EISDIR), expected a text file in UTF-8']);
  });
});

it('an unknown kind of tintype.dev is a fault, and no resource is treated as removed', async () => {
  const { faultLines, names, isComplete } = await load({
    'a.yaml': project('one'),
    'b.yaml': project('two').replace('kind: Project', 'kind: Projct'),
  });
  expect(faultLines).toEqual([
    'b.yaml:2: kind: expected a kind of tintype.dev that has an effect outside a cluster (Project, SigningKey, WatermarkPreset, Recipe), got "Projct"',
  ]);
  expect([names, isComplete]).toEqual([['Project/one'], false]);
});

describe('what the loader skips', () => {
  it('a kind without effect outside a cluster and a foreign kind, each with a note', async () => {
    const { noteLines, faultLines, isComplete } = await load({
      'a.yaml':
        'apiVersion: tintype.dev/v1alpha1\nkind: ImageService\nmetadata: { name: main }\nspec: { image: x }\n---\napiVersion: v1\nkind: Secret\nmetadata: { name: x }\n',
    });
    expect(noteLines).toEqual([
      'a.yaml:1: skipped: ImageService has an effect only in a cluster',
      'a.yaml:6: skipped: v1 Secret is not a resource of tintype.dev',
    ]);
    expect([faultLines, isComplete]).toEqual([[], true]);
  });

  it('a Project of another API group, with a note and without effect on our Project of that name', async () => {
    const foreign = project('one').replace('tintype.dev/v1alpha1', 'project.openshift.io/v1');
    const { noteLines, faultLines, names, present } = await load({
      'a.yaml': foreign,
      'b.yaml': project('one'),
      'c.yaml': foreign.replace('name: one', 'name: two'),
    });
    expect(noteLines).toEqual([
      'a.yaml:1: skipped: project.openshift.io/v1 Project is not a resource of tintype.dev',
      'c.yaml:1: skipped: project.openshift.io/v1 Project is not a resource of tintype.dev',
    ]);
    expect([faultLines, names, present.size]).toEqual([[], ['Project/one'], 2]);
  });

  it('a nested folder and a JSON file, each with a note that says what to do', async () => {
    await mkdir(join(folder, 'teams'));
    const { noteLines, faultLines, isComplete } = await load({ 'shop.json': '{}' });
    expect(noteLines.toSorted()).toEqual([
      'shop.json: skipped: only *.yaml and *.yml are read: if it declares something, rename it, as JSON is YAML',
      'teams: skipped: folders within the folder are not read; move its files up',
    ]);
    expect([faultLines, isComplete]).toEqual([[], true]);
  });

  it('files beside a kustomization, without a note', async () => {
    await mkdir(join(folder, 'cluster'));
    const { noteLines } = await load({ Kustomization: 'resources: [cluster]', 'shop.json': '{}' });
    expect(noteLines).toEqual([]);
  });

  it('a field that has an effect only in a cluster, while the rest of the resource counts', async () => {
    const { noteLines, faultLines, names } = await load({
      'a.yaml': project('one', '  routing: { probe: Enabled }'),
    });
    expect(noteLines).toEqual(['a.yaml:6: spec.routing has an effect only in a cluster']);
    expect([faultLines, names]).toEqual([[], ['Project/one']]);
  });

  it('the second declaration of a resource, which is reported', async () => {
    const { faultLines, names } = await load({
      'a.yaml': project('one'),
      'b.yaml': `# again\n${project('one')}`,
    });
    expect(faultLines).toEqual([
      'b.yaml:5: metadata.name: already declared at a.yaml:1; this one is not used',
    ]);
    expect(names).toEqual(['Project/one']);
  });
});
