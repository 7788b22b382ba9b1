import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { requiredKeys } from '../../operator/image-service/secrets.ts';
import { variables } from '../../runtime/platform/config-variables.ts';
import { projectRoot } from '../house/source-files.ts';

const samples = join(projectRoot, 'config/samples');

// biome-ignore lint/suspicious/noExplicitAny: YAML samples of many kinds; the tests check their shape.
function read(file: string): any[] {
  return parseAllDocuments(readFileSync(join(samples, file), 'utf8')).map((each) => each.toJS());
}

const [{ spec: installation }] = read('installation/image-service.yaml');

describe('the samples of an installation’s dependencies', () => {
  it('create the Secrets that the ImageService sample refers to', () => {
    const [database] = read('dependencies/postgresql.yaml');
    expect(installation.databaseSecretRef).toEqual({
      name: `${database.metadata.name}-app`,
      key: 'uri',
    });
    const [broker] = read('dependencies/rabbitmq.yaml');
    const name = `${broker.metadata.name}-default-user`;
    expect(installation.amqpSecretRef).toEqual({ name, key: 'connection_string' });
  });

  it('claim the buckets that the ImageService sample names, both for one owner', () => {
    const claims = read('dependencies/object-storage.yaml');
    expect(claims.map(({ spec }) => spec.bucketName)).toEqual([
      installation.storage.ingestBucket,
      installation.storage.contentBucket,
    ]);
    const owners = new Set(claims.map(({ spec }) => spec.additionalConfig.bucketOwner));
    expect(owners.size).toBe(1);
  });

  it('create the other Secrets with every key that an installation requires', () => {
    // A kubectl that prints what it should create, and finds only the Secret of the database.
    const kubectl = join(projectRoot, 'test/config/recording-kubectl.sh');
    const printed = execFileSync(join(samples, 'dependencies/secrets.sh'), {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], KUBECTL: kubectl, STORAGE_KEY: 'a', STORAGE_SECRET: 'b' },
    });
    const made = (name: string) =>
      printed.split('\n').find((line) => line.includes(`create secret generic ${name} `)) ?? '';
    for (const field of requiredKeys) {
      expect(made(installation.keysSecretRef.name)).toContain(`${variables[field].name}=`);
    }
    expect(made(installation.storageSecretRef.name)).toContain('AWS_ACCESS_KEY_ID=a');
    expect(made('tintype')).toContain('TINTYPE_DATABASE_URL=postgres://there');
    expect(made('tintype')).toMatch(/TINTYPE_KEY_ENCRYPTION_KEYS=\S+/);
  });
});
