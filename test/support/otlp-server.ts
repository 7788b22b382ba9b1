/** An OpenTelemetry collector: accepts traces as OTLP/JSON over HTTP and keeps their spans. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { closeHttp } from './close-http.ts';

export type SeenSpan = {
  service: string;
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  attributes: Record<string, string | number>;
  isFailed: boolean;
};

export type OtlpServer = {
  url: string;
  spans: SeenSpan[];
  /** All request bodies as received. */
  bodies: string[];
  /** How many requests to other paths were answered with 404. */
  refused(): number;
  close(): Promise<void>;
};

export async function startOtlpServer(): Promise<OtlpServer> {
  const spans: SeenSpan[] = [];
  const bodies: string[] = [];
  let refused = 0;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const isTraces = request.method === 'POST' && request.url === '/v1/traces';
      if (isTraces) {
        bodies.push(body);
        spans.push(...spansOf(JSON.parse(body)));
      } else refused += 1;
      response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    refused: () => refused,
    close: () => closeHttp(server),
  };
}

type Attribute = { key: string; value: { stringValue?: string; intValue?: number | string } };
type OtlpSpan = {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Attribute[];
  status: { code?: number };
};
type Otlp = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
};

const FAILED = 2;

function spansOf({ resourceSpans }: Otlp): SeenSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, kind, traceId, spanId, parentSpanId, attributes, status }) => ({
        ...{ name, kind, traceId, spanId, parentSpanId },
        service: String(valuesOf(resource.attributes)['service.name']),
        attributes: valuesOf(attributes),
        isFailed: status.code === FAILED,
      })),
    ),
  );
}

function valuesOf(attributes: Attribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}
