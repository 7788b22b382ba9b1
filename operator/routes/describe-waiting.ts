/** What a route that is not served yet waits for, and where to look. */
import type { ImageServiceSpec } from '../image-service/schema.ts';
import type { RouteMode } from './edge.ts';

type Asked = { mode: RouteMode; namespace: string; spec: ImageServiceSpec };

/** Completes a sentence about the route. An HTTPRoute never has an address: its Gateway has one. */
export function describeWaiting({ mode, namespace, spec }: Asked): string {
  if (mode === 'Ingress') return `has no address yet: ${adviceOn(spec)}`;
  const { name, namespace: there = namespace, sectionName } = spec.routing?.gatewayRef ?? {};
  const listener = sectionName === undefined ? '' : `, with the listener '${sectionName}'`;
  return `is not accepted by its Gateway yet: is there a Gateway '${there}/${name}'${listener}, and does its controller run?`;
}

function adviceOn({ ingressClassName }: ImageServiceSpec): string {
  return ingressClassName === undefined
    ? 'is there an ingress controller with a default class? If not, set `spec.ingressClassName`'
    : `does the ingress controller of the class '${ingressClassName}' run?`;
}
