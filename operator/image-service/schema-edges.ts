/** How an installation is reached, what it may reach, and what makes it grow: parts of the ImageService resource. */
import { choice, group, integer, objectName, text } from '../fields.ts';
import { annotations, peers } from './fields.ts';

export const autoscaling = group('{ mode, stabilizationSeconds }', {
  mode: choice(['Auto', 'KEDA', 'BuiltIn', 'Disabled'])
    .describe(
      'Who sets the number of workers by what waits: KEDA, or the operator itself (BuiltIn); default Auto: KEDA where it is installed. Disabled: nobody; scale the Deployments by hand.',
    )
    .optional(),
  stabilizationSeconds: integer('a whole number from 0 to 3600', { min: 0, max: 3600 })
    .describe(
      'A pool shrinks to the most workers that were needed within so many seconds; default 300.',
    )
    .optional(),
}).describe('What makes the pools of workers grow and shrink.');

export const tls = group('{ apiSecretName, deliverySecretName, customDomains }', {
  apiSecretName: objectName('the name of a Secret')
    .describe('The Secret with the certificate of the hosts of baseURL and uploadBaseURL.')
    .optional(),
  deliverySecretName: objectName('the name of a Secret')
    .describe('The Secret with the wildcard certificate of the delivery hosts.')
    .optional(),
  customDomains: choice(['SecretPerProject', 'Disabled'])
    .describe(
      'SecretPerProject: the custom domains of a project take their certificate from the Secret <name>-project-<slug>-tls, which cert-manager makes where deliveryAnnotations name an issuer, or you do; default where deliverySecretName is set. Disabled: no TLS for them.',
    )
    .optional(),
}).describe('Certificates for Ingress objects; with a Gateway they stand at its listeners.');

const gatewayRef = group('{ name, namespace, sectionName }', {
  name: objectName('the name of a Gateway').describe('Name of the Gateway.'),
  namespace: text('the name of a namespace', {
    max: 63,
    pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  })
    .describe('Its namespace; default the same.')
    .optional(),
  sectionName: objectName('the name of a listener')
    .describe('One of its listeners; default all.')
    .optional(),
});

export const routing = group('{ mode, gatewayRef, apiAnnotations, deliveryAnnotations }', {
  mode: choice(['Ingress', 'Gateway', 'Disabled'])
    .describe(
      'Ingress objects (default), HTTPRoutes of a Gateway, or nothing: you route to the Services yourself.',
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
  .describe('How requests from outside come in.')
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
    .describe('Whether NetworkPolicies keep every pod to what it needs; default Enabled.')
    .optional(),
  peers: peers
    .describe(
      'Where each party is. One that is not named: anywhere, at the port of its URL; Clients and Metrics: anyone; Credentials: nowhere.',
    )
    .optional(),
}).describe('What the pods may reach, and who may reach them.');
