/** How an installation is reached, what it may reach, and how it scales: parts of the ImageService schema. */
import { choice, group, integer, objectName, text } from '../fields.ts';
import { annotations, peers } from './fields.ts';

export const autoscaling = group('{ mode, stabilizationSeconds }', {
  mode: choice(['Auto', 'KEDA', 'BuiltIn', 'Disabled'])
    .describe(
      'What sets the number of workers by load: KEDA, or the operator (BuiltIn); default Auto: KEDA where it is installed, else BuiltIn. Disabled: scale the Deployments by hand.',
    )
    .optional(),
  stabilizationSeconds: integer('a whole number from 0 to 3600', { min: 0, max: 3600 })
    .describe(
      'A pool shrinks to the highest number of workers needed within this many seconds; default 300.',
    )
    .optional(),
}).describe('How the pools of workers are scaled.');

export const tls = group('{ apiSecretName, deliverySecretName, customDomains }', {
  apiSecretName: objectName('the name of a Secret')
    .describe('The Secret with the certificate of the hosts of baseURL and uploadBaseURL.')
    .optional(),
  deliverySecretName: objectName('the name of a Secret')
    .describe('The Secret with the wildcard certificate of the delivery hosts.')
    .optional(),
  customDomains: choice(['SecretPerProject', 'Disabled'])
    .describe(
      'SecretPerProject: custom domains of a project use the certificate in the Secret <name>-project-<slug>-tls. cert-manager creates it if deliveryAnnotations name an issuer; otherwise you do. Default if deliverySecretName is set. Disabled: no TLS for them.',
    )
    .optional(),
}).describe('Certificates for Ingress objects; with a Gateway, its listeners hold them.');

const gatewayRef = group('{ name, namespace, sectionName }', {
  name: objectName('the name of a Gateway').describe('Name of the Gateway.'),
  namespace: text('the name of a namespace', {
    max: 63,
    pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  })
    .describe('Its namespace; default that of the ImageService.')
    .optional(),
  sectionName: objectName('the name of a listener')
    .describe('One of its listeners; default all.')
    .optional(),
});

export const routing = group('{ mode, gatewayRef, apiAnnotations, deliveryAnnotations }', {
  mode: choice(['Ingress', 'Gateway', 'Disabled'])
    .describe(
      'Ingress objects (default), HTTPRoutes of a Gateway, or nothing (Disabled): you route to the Services yourself.',
    )
    .optional(),
  gatewayRef: gatewayRef.describe('The Gateway that HTTPRoutes attach to.').optional(),
  apiAnnotations: annotations
    .describe('Annotations of the route to the API, for the ingress controller or cert-manager.')
    .optional(),
  deliveryAnnotations: annotations
    .describe('Annotations of the route to the delivery hosts.')
    .optional(),
})
  .refine((it) => (it.mode === 'Gateway') === (it.gatewayRef !== undefined), {
    error: 'gatewayRef with mode Gateway, and only then',
  })
  .describe('How requests from outside reach the Services.')
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "(has(self.mode) && self.mode == 'Gateway') == has(self.gatewayRef)",
        message: "`gatewayRef` must be set with `mode` 'Gateway', and only then",
      },
    ],
  });

export const networkPolicy = group('{ mode, peers }', {
  mode: choice(['Enabled', 'Disabled'])
    .describe(
      'Whether NetworkPolicies limit every pod to the traffic that it needs; default Enabled.',
    )
    .optional(),
  peers: peers
    .describe(
      'Where each party is. If not listed, a party may be anywhere, at the port of its URL; Clients and Metrics may be anyone; Credentials are unreachable.',
    )
    .optional(),
}).describe('What the pods may reach, and who may reach them.');
