// Spec: File (status), the automatic scanner. Workers queue a check with each revision, the dispatcher scans.
import { expect, it } from 'vitest';
import { allObjects, renderInstallation } from '../../../operator/image-service/render/render.ts';
import { installation, least } from './samples.ts';

// biome-ignore lint/suspicious/noExplicitAny: rendered objects are read here as users read YAML
type Yaml = any;
type Scanner = Parameters<typeof installation>[0]['scanner'];

function objects(scanner: NonNullable<Scanner>): Yaml[] {
  return allObjects(renderInstallation(installation({ ...least, scanner })));
}

function find(all: Yaml[], kind: string, suffix: string): Yaml {
  return all.find((each) => each.kind === kind && each.metadata.name === `main-${suffix}`);
}

const containerOf = (all: Yaml[], process: string) =>
  find(all, 'Deployment', process).spec.template.spec.containers[0];
const toldOf = (all: Yaml[], process: string) =>
  Object.fromEntries(
    containerOf(all, process)
      .env.filter(({ name }: Yaml) => name.startsWith('TINTYPE_SCANNER'))
      .map(({ name, value }: Yaml) => [name, value]),
  );
const HTTP = { kind: 'HTTP', url: 'http://model.ml.svc:9321/scan', thresholds: ['nudity=0.9'] };

it('the dispatcher and ingest workers are told of a model server, the other processes are not', () => {
  const all = objects(HTTP as NonNullable<Scanner>);
  const reported = {
    TINTYPE_SCANNER: 'http',
    TINTYPE_SCANNER_URL: HTTP.url,
    TINTYPE_SCANNER_THRESHOLDS: 'nudity=0.9',
  };
  expect(toldOf(all, 'dispatcher')).toEqual(reported);
  expect(toldOf(all, 'worker-ingest')).toEqual(reported);
  for (const process of ['api', 'delivery', 'worker-render'])
    expect(toldOf(all, process)).toEqual({});
});

it('only the dispatcher may call the model server', () => {
  const all = objects(HTTP as NonNullable<Scanner>);
  const ports = (process: string): number[] =>
    find(all, 'NetworkPolicy', process).spec.egress.flatMap((rule: Yaml) =>
      rule.ports.map(({ port }: Yaml) => port),
    );
  expect(ports('dispatcher')).toContain(9321);
  expect(ports('worker-ingest')).not.toContain(9321);
});

it('the dispatcher gets enough memory for the process of the embedded model', () => {
  const all = objects({ kind: 'Embedded' });
  expect(toldOf(all, 'dispatcher')).toEqual({ TINTYPE_SCANNER: 'embedded' });
  expect(containerOf(all, 'dispatcher').resources).toMatchObject({
    requests: { memory: '416Mi' },
    limits: { memory: '768Mi' },
  });
});
