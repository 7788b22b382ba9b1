/**
 * Tintype in a cluster, installed as in docs/walkthroughs/platform.md with the chart, the user's Secrets and one
 * ImageService; and queries for its state.
 */
import { dirname } from 'node:path';
import { type Caller, withHeaders, withKey } from '../../contract/support/client.ts';
import { nameBackups, openPlatform, type Platform } from '../../walkthroughs/support/platform.ts';
import { type Forward, forward, kubectl, read } from './kubectl.ts';
import type { Surroundings } from './surroundings.ts';

export const HOME = 'tintype-system';
export const ROOT_DOMAIN = 'img.e2e.test';
export const API_HOST = 'api.e2e.test';

const small = { requests: { cpu: '20m' } };

/** For a machine of two cores that also runs the cluster. */
function sizes() {
  const pool = { min: 1, max: 3, resources: small };
  return {
    api: { replicas: 2, resources: small },
    delivery: { replicas: 2, resources: small },
    dispatcher: { replicas: 1, resources: small },
    // Two render workers, so that renders continue when one stops. One slot each, so that there are
    // as many concurrent uploads as workers.
    workers: {
      ingest: { ...pool, slots: 1, queueLengthPerReplica: 2 },
      render: { ...pool, min: 2 },
    },
    autoscaling: { stabilizationSeconds: 10 },
  };
}

/** Opens the walkthrough, with its example values replaced by those of this machine. */
export async function openInstallation(
  around: Surroundings,
  class_name: string,
): Promise<Platform> {
  const { postgres, s3, local } = around;
  const backups = await around.servers.bucket('backups');
  const more = { deliveryScheme: 'HTTP', ingressClassName: class_name, ...sizes() };
  const fields = Object.entries(more).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`);
  return openPlatform({
    kubeconfig: process.env['KUBECONFIG'] ?? '',
    tools: [postgres.bin, dirname(process.execPath)],
    here: {
      'registry.example.com/tintype': 'docker.io/tintype/tintype',
      'https://api.images.example.com': `http://${API_HOST}`,
      'img.example.com': ROOT_DOMAIN,
      'postgres://tintype:password@db.internal:5432/': around.database_url,
      'postgres://postgres:password@db.example.com:5432': postgres.admin('').replace(/\/$/, ''),
      'owner tintype': `owner ${postgres.role}`,
      '--role=tintype': `--role=${postgres.role}`,
      'amqp://tintype:password@mq.internal:5672': around.amqp_url,
      AKIAEXAMPLE: s3['AWS_ACCESS_KEY_ID'] ?? '',
      'AWS_SECRET_ACCESS_KEY=example': `AWS_SECRET_ACCESS_KEY=${s3['AWS_SECRET_ACCESS_KEY']}`,
      'https://s3.eu-central-1.amazonaws.com': s3['TINTYPE_S3_ENDPOINT'] ?? '',
      'region: eu-central-1': `region: us-east-1, addressing: Path, publicEndpoint: "${local.s3_endpoint}"`,
      'example-tintype-ingest': s3['TINTYPE_INGEST_BUCKET'] ?? '',
      'example-tintype-content': s3['TINTYPE_CONTENT_BUCKET'] ?? '',
      ...nameBackups(backups),
      'identity: { issuer: https://id.example.com }': [
        `identity: ${JSON.stringify({ issuer: around.issuer, jwksURL: around.jwks_url })}`,
        ...fields,
      ].join('\n'),
    },
  });
}

export type Reached = {
  api_url: string;
  alice: Caller;
  /** Returns a caller with this API key. */
  holder(secret: string): Caller;
  stop(): Promise<void>;
};

/** Connects to the API through its Service. The connection breaks when its pod is replaced. */
export async function reachApi(around: Surroundings, delivery: Forward): Promise<Reached> {
  const { data } = await read(HOME, 'secret', 'tintype-keys');
  const api = await forward(HOME, 'service/main-api', 80);
  const instance = {
    api_url: `http://127.0.0.1:${api.port}`,
    delivery_root_domain: ROOT_DOMAIN,
    delivery_port: delivery.port,
    request_signing_secret: Buffer.from(
      data['TINTYPE_REQUEST_SIGNING_SECRET'],
      'base64',
    ).toString(),
  };
  const authorization = `Bearer ${await around.token('alice')}`;
  return {
    api_url: instance.api_url,
    alice: withHeaders({ instance }, { authorization, 'x-identity-user-id': 'alice' }),
    holder: (secret) => withKey({ instance }, secret),
    stop: api.stop,
  };
}

export type PodMetadata = {
  name: string;
  labels: Record<string, string>;
  deletionTimestamp?: string;
};

/** Returns the pods of a component, without terminating ones. */
export async function podsOf(component: string): Promise<PodMetadata[]> {
  const { items } = await read(HOME, 'pods');
  return items
    .map(({ metadata }: { metadata: PodMetadata }) => metadata)
    .filter(({ labels }: PodMetadata) => labels['app.kubernetes.io/instance'] === 'main')
    .filter(({ labels }: PodMetadata) => labels['app.kubernetes.io/component'] === component)
    .filter(({ deletionTimestamp }: PodMetadata) => deletionTimestamp === undefined);
}

/** Returns all of Tintype's cluster-wide objects, except those that the suite created. */
export async function left(): Promise<string[]> {
  const kinds =
    'crds,clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings';
  const names = await kubectl('get', kinds, '--output', 'name');
  return names.split('\n').filter((name) => /tintype/.test(name) && !/tintype-e2e/.test(name));
}

/** Describes what is left in a stuck namespace, with the last log lines of its pods. */
export async function whatHolds(namespace: string): Promise<string> {
  const lines: string[] = [];
  const { status } = JSON.parse(await kubectl('get', 'namespace', namespace, '--output', 'json'));
  for (const { type, message } of status.conditions ?? []) lines.push(`${type}: ${message}`);
  const { items } = await read(namespace, 'pods');
  for (const { metadata, status: is } of items) {
    const { name, deletionTimestamp: end, deletionGracePeriodSeconds: grace } = metadata;
    // Kubernetes sets both fields when somebody deletes the pod, and its namespace may not have got there.
    const deletion = end === undefined ? 'not deleted yet' : `to end by ${end} after ${grace} s`;
    lines.push(`${name} ${is.phase}, ${deletion}`);
    const asked = ['logs', name, '--tail=8'];
    lines.push(await kubectl('--namespace', namespace, ...asked).catch(String));
  }
  return lines.join('\n');
}
