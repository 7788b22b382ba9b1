/** The largest lists of unique items that are allowed: validating them stays within the API server's limits. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  ALLOWED_TRANSFORM_CHAINS_MAX,
  CORS_ALLOWED_ORIGINS_MAX,
  CUSTOM_DOMAINS_MAX,
  HOSTNAME_LENGTH_MAX,
  RESOLUTION_PRESETS_MAX,
  URL_LENGTH_MAX,
} from '../../runtime/core/limits.ts';
import { full } from '../operator/image-service/samples.ts';
import { kubeRequest } from '../support/kube-request.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';

const cluster = useControlPlane();
let namespace: string;
beforeAll(async () => {
  namespace = await cluster.namespace();
});

/** Items that differ only at their ends, which makes comparing them most expensive. */
function many(count: number, make: (end: string) => string): string[] {
  return Array.from({ length: count }, (_, at) => make(String(at).padStart(3, '0')));
}

function host(length: number, end: string): string {
  const labels = Array.from({ length: 4 }, () => `a${'b'.repeat(62)}`).join('.');
  return `${labels.slice(0, length - end.length - 3)}${end}.ex`;
}

function padded(head: string, length: number) {
  return (end: string) => `${head}${'a'.repeat(length - head.length - end.length)}${end}`;
}

const most = '9'.repeat(9);
/** Each operation may occur only once, so no chain can reach the length limit. */
const chain = padded(`crop/${most},${most},${most},${most}/quality/100/preset:`, 119);

const presets = many(RESOLUTION_PRESETS_MAX, padded('a', 64));
const resolutionPresets = presets.map((name) => ({ name, chain: 'quality/80' }));
const origins = many(64, (end) => `https://${host(253, end)}`);

const project = {
  corsAllowedOrigins: many(CORS_ALLOWED_ORIGINS_MAX, (end) => `https://${host(253, end)}:65535`),
  allowedTransformChains: many(ALLOWED_TRANSFORM_CHAINS_MAX, chain),
  warmPresets: presets,
};
const customDomains = many(CUSTOM_DOMAINS_MAX, (end) => host(HOSTNAME_LENGTH_MAX, end));
const subjects = many(256, padded('a', 256));
const proxies = many(64, (end) => `fd00:1111:2222:3333:4444:5555:6666:1${end}/128`);
const urls = many(16, padded('https://cdn.example/', URL_LENGTH_MAX));
const thresholds = many(16, (end) => `${padded('a', 57)(end)}=0.9999`);

type Row = [field: string, kind: string, list: string[], spec: (list: string[]) => object];
const rows: Row[] = [
  ...Object.entries(project).map(([field, items]): Row => {
    const rest = field === 'warmPresets' ? { resolutionPresets } : {};
    return [field, 'Project', items, (list) => ({ ...rest, [field]: list })];
  }),
  ['staff.customDomains', 'Project', customDomains, (list) => ({ staff: { customDomains: list } })],
  ...['dashboardOrigins', 'marketingOrigins'].map(
    (field): Row => [
      ...([field, 'ImageService', origins] as const),
      (list) => ({ ...full, [field]: list }),
    ],
  ),
  [
    ...(['trustedProxies', 'ImageService', proxies] as const),
    (list) => ({ ...full, trustedProxies: list }),
  ],
  ['staff.subjects', 'ImageService', subjects, (list) => ({ ...full, staff: { subjects: list } })],
  [
    'cdn.urls',
    'ImageService',
    urls,
    (list) => ({ ...full, cdn: { kind: 'HTTPPurge', urls: list } }),
  ],
  [
    ...(['scanner.thresholds', 'ImageService', thresholds] as const),
    (list) => ({ ...full, scanner: { kind: 'Embedded', thresholds: list } }),
  ],
];

const plurals: Record<string, string> = { Project: 'projects', ImageService: 'imageservices' };

async function create(kind: string, spec: object) {
  const { status, body } = await kubeRequest(cluster.plane(), {
    ...{ method: 'POST' },
    path: `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plurals[kind]}?dryRun=All`,
    body: { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name: 'full' }, spec },
  });
  return { status, message: (body as { message?: string }).message };
}

describe('a list at its bounds', () => {
  it.each(rows)('%s of a %s is accepted', async (_field, kind, list, specOf) => {
    expect(await create(kind, specOf(list))).toMatchObject({ status: 201 });
  });

  it.each(rows)('%s of a %s is rejected if its last item is repeated', async (...row) => {
    const [field, kind, list, specOf] = row;
    const { status, message } = await create(kind, specOf([...list.slice(1), ...list.slice(-1)]));
    expect(status).toBe(422);
    expect(message).toContain(`spec.${field}: Invalid value`);
    expect(message).toContain('each item only once');
  });

  it('is accepted together with all others', async () => {
    const spec = { ...project, resolutionPresets, staff: { customDomains } };
    expect(await create('Project', spec)).toMatchObject({ status: 201 });
    const services = rows.filter(([, kind]) => kind === 'ImageService');
    const lists = services.map(([field, , list, specOf]) => {
      const [name = ''] = field.split('.');
      return [name, new Map(Object.entries(specOf(list))).get(name)];
    });
    const service = { ...full, ...Object.fromEntries(lists) };
    expect(await create('ImageService', service)).toMatchObject({ status: 201 });
  });
});
