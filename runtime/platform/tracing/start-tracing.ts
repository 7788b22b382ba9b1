/** Turns tracing on if a collector is configured; otherwise nothing of OpenTelemetry is loaded. */
import type { Config } from '../config.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Log } from '../log.ts';
import { setTracer } from './spans.ts';

type Starting = { name: string; log: Log; lifecycle: Lifecycle };

/** Call first, so that tracing ends last and sends the final spans of the other parts. */
export async function startTracing(
  { otlpEndpoint: endpoint }: Pick<Config, 'otlpEndpoint'>,
  { name, log, lifecycle }: Starting,
): Promise<void> {
  if (endpoint === undefined) return;
  const { openTelemetry } = await import('./open-telemetry.ts');
  const { tracer, stop } = openTelemetry({ endpoint, name, log });
  setTracer(tracer);
  lifecycle.onStop('traces', async () => {
    setTracer(undefined);
    await stop();
  });
}
