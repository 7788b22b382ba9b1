import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createKeySet } from '../../../runtime/platform/key-set.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import {
  continueTrace,
  currentTraceContext,
  type OpenSpan,
  parseTraceHeaders,
  traceHeaders,
  withTraceContext,
} from '../../../runtime/platform/trace-context.ts';
import {
  isTraced,
  setTracer,
  type Tracer,
  traced,
} from '../../../runtime/platform/tracing/spans.ts';
import { createDoorbellTraces } from '../../../runtime/worker/ingest/doorbell-traces.ts';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('a trace context', () => {
  it('stays with its own asynchronous work', async () => {
    const idAfterWait = async (request_id: string) =>
      withTraceContext({ request_id }, async () => {
        await turn();
        return currentTraceContext().request_id;
      });
    expect(await Promise.all(['one-one-1', 'two-two-2'].map(idAfterWait))).toEqual([
      'one-one-1',
      'two-two-2',
    ]);
    expect(currentTraceContext()).toEqual({});
  });

  it('continues in another process from the carried headers', () => {
    const carried = withTraceContext(
      { request_id: 'abcdefgh', traceparent: TRACEPARENT },
      traceHeaders,
    );
    expect(carried).toEqual({ 'x-request-id': 'abcdefgh', traceparent: TRACEPARENT });
    expect(continueTrace(carried, currentTraceContext)).toEqual({
      request_id: 'abcdefgh',
      traceparent: TRACEPARENT,
    });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['names of another kind', { 'x-request-id': ['abcdefgh'], traceparent: 7 }],
    ['an id with a line break', { 'x-request-id': 'abcdefgh\r\nx: y' }],
    ['a trace of another version', { traceparent: TRACEPARENT.replace('00-', '01-') }],
    ['a trace that is longer', { traceparent: `${TRACEPARENT}-00` }],
  ])('is empty if it is read from %s', (_what, headers) => {
    expect(parseTraceHeaders(headers)).toEqual({});
  });

  it('accompanies a doorbell and a call', async () => {
    const queue = createInProcessQueue();
    const heard = Promise.withResolvers<unknown>();
    await queue.consume('ingest', { slots: 1 }, async () =>
      heard.resolve(currentTraceContext().request_id),
    );
    await queue.serve(
      'render',
      { slots: 1, waiting_max: 1 },
      async () => currentTraceContext().request_id,
    );
    await withTraceContext({ request_id: 'doorbell-1' }, () => queue.publish('ingest', {}));
    const asked = withTraceContext({ request_id: 'question-1' }, () =>
      queue.call('render', {}, { deadline_ms: 5000 }),
    );
    expect([await heard.promise, await asked]).toEqual(['doorbell-1', 'question-1']);
    await queue.close();
  });

  it('is that of its own doorbell, whichever doorbell started the work', async () => {
    const traces = createDoorbellTraces();
    withTraceContext({ request_id: 'request-of-a' }, () => traces.note({ upload_id: 'a' }));
    withTraceContext({ request_id: 'request-of-b' }, () => traces.note({ upload_id: 'b' }));
    const idFor = (upload_id: string) =>
      withTraceContext({ request_id: 'request-of-b' }, () =>
        traces.follow(upload_id, async () => currentTraceContext().request_id),
      );
    // `a` occurs twice, as with a second attempt.
    const ids = [await idFor('a'), await idFor('b'), await idFor('a'), await idFor('c')];
    expect(ids).toEqual(['request-of-a', 'request-of-b', 'request-of-a', undefined]);
  });

  it('is sent to the identity provider', async () => {
    const sent: unknown[] = [];
    const keys = createKeySet({
      url: 'https://login.example/keys',
      clock: systemClock,
      fetch: async (_url, init) => {
        sent.push(new Headers(init?.headers).get('x-request-id'));
        return Response.json({});
      },
      parse: () => [],
    });
    await withTraceContext({ request_id: 'who-is-it' }, () => keys.current());
    expect(sent).toEqual(['who-is-it']);
  });

  it('appears once in every log line', () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLog({ level: 'info', name: 'test', destination });
    withTraceContext({ request_id: 'of-the-context' }, () => {
      log.info('one');
      log.info('two', { request_id: 'said-by-hand' });
      log.child({ request_id: 'of-the-child' }).info('three');
    });
    expect(lines.map((line) => line.match(/"request_id":"[^"]*"/g))).toEqual([
      ['"request_id":"of-the-context"'],
      ['"request_id":"said-by-hand"'],
      ['"request_id":"of-the-child"'],
    ]);
  });
});

describe('a span', () => {
  afterEach(() => setTracer(undefined));

  function noted(): { tracer: Tracer; ended: [string, unknown][] } {
    const ended: [string, unknown][] = [];
    const nothing = () => undefined;
    const open = (name: string): OpenSpan => ({
      traceparent: TRACEPARENT,
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      rename: nothing,
      set: nothing,
      end: (failure) => void ended.push([name, failure]),
    });
    return { tracer: { open }, ended };
  }

  it('is not created while tracing is off', async () => {
    const seen = await traced('work', {}, async () => [currentTraceContext(), isTraced()]);
    expect(seen).toEqual([{}, false]);
  });

  it('ends with its work, and with the error that the work throws', async () => {
    const { tracer, ended } = noted();
    setTracer(tracer);
    const failure = new Error('of the work');
    await traced('outer', {}, async () => {
      await traced('inner', {}, () => Promise.reject(failure)).catch(() => undefined);
      expect([ended.length, isTraced()]).toEqual([1, true]);
    });
    expect(ended).toEqual([
      ['inner', failure],
      ['outer', undefined],
    ]);
  });
});
