/** What the commands on this machine need to know about a running Tintype. */

import type { Environment } from '../platform/config.ts';
import { pickExternalVariables } from '../platform/external-variables.ts';
import type { Instance } from '../platform/instance.ts';
import type { StandaloneConfig } from './environment.ts';
import type { SampleProject } from './sample-project.ts';

type Made = Pick<Instance, 'organization_id'> & SampleProject;

type Running = {
  /** The environment in which it was started. */
  given: Environment;
  /** Its complete configuration: as variables, and parsed. */
  environment: Environment;
  config: StandaloneConfig;
};

export function describeInstance({ given, environment, config }: Running, made: Made): Instance {
  return {
    pid: process.pid,
    api_url: config.baseUrl,
    delivery_root_domain: config.deliveryRootDomain,
    delivery_port: config.deliveryPublicPort ?? config.deliveryPort,
    delivery_scheme: config.deliveryScheme,
    database_url: config.databaseUrl,
    issuer: config.identityIssuer,
    request_signing_secret: config.requestSigningSecret,
    storage_event_secret: config.storageEventSecret,
    provider_a_secret: config.providerASecret,
    provider_b_secret: config.providerBSecret,
    provider_b_mode: config.providerBMode,
    key_encryption_keys: environment['TINTYPE_KEY_ENCRYPTION_KEYS'] ?? '',
    token_keys: environment['TINTYPE_TOKEN_KEYS'] ?? '',
    environment: pickExternalVariables(given),
    ...made,
  };
}
