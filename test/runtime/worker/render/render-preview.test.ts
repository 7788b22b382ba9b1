// Spec: Staff previews.
import { describe, expect, it } from 'vitest';
import {
  type PreviewReply,
  requestPreview,
} from '../../../../runtime/core/delivery/preview-request.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import type { PreviewDeps } from '../../../../runtime/worker/render/render-preview.ts';
import { readPreview, renderPreview } from '../../../../runtime/worker/render/render-preview.ts';
import { SandboxFailure } from '../../../../runtime/worker/sandbox/sandbox-failure.ts';
import { makeFolderBuckets } from '../../../support/folder-buckets.ts';
import { photo } from '../../../support/planned.ts';

const never = new AbortController().signal;
const source = { ...photo, project_id: 'prj_1', object_key: 'source', mezzanines: [] };
const rendition = { fit: 'box', pixels: 480, format: 'webp', quality: 80 } as const;
const request = { ...requestPreview(source, rendition), read_ms_max: 20 };

async function preview(changes: Partial<PreviewDeps>): Promise<PreviewReply> {
  const { buckets, remove } = makeFolderBuckets();
  const log = createLog({ level: 'silent', name: 'test' });
  const unused = () => Promise.reject(new Error('not used here'));
  const deps: PreviewDeps = {
    content: buckets.content,
    log,
    sandbox: { run: unused, close: unused },
    scheduler: {
      enter: async () => () => undefined,
      enterWarm: () => ({ release() {}, stopped: never }),
    },
    ...changes,
  };
  try {
    return await renderPreview(deps, request, never);
  } finally {
    remove();
  }
}

describe('a preview', () => {
  it('is distinguished from a render by the contents of its request', () => {
    expect(readPreview(JSON.parse(JSON.stringify(request)))).toEqual(request);
    expect(readPreview({ derived_key: 'a' })).toBeUndefined();
    expect(() => readPreview({ read_ms_max: 1 })).toThrow();
  });

  it('takes no slot if its source is not read in time', async () => {
    const { buckets, remove } = makeFolderBuckets();
    const { promise } = Promise.withResolvers<undefined>();
    const content = { ...buckets.content, read: () => promise };
    const permits: string[] = [];
    const enter = async () => {
      permits.push('acquired');
      return () => undefined;
    };
    const enterWarm = () => ({ release() {}, stopped: never });
    expect(await preview({ content, scheduler: { enter, enterWarm } })).toEqual({
      outcome: 'unread',
    });
    expect(permits).toEqual([]);
    remove();
  });

  it.each([
    ['timeout', 'timeout'],
    ['out_of_memory', 'out_of_memory'],
    ['crashed', 'decode_failed'],
    ['garbage', 'decode_failed'],
  ] as const)('whose decoder fails with %s is reported as undrawable: %s', async (reason, said) => {
    const { buckets, remove } = makeFolderBuckets();
    const content = { ...buckets.content, read: async () => Buffer.from('picture') };
    const run = () => Promise.reject(new SandboxFailure(reason, 'a test'));
    const sandbox = { run, close: async () => undefined };
    expect(await preview({ content, sandbox })).toEqual({ outcome: 'undrawable', reason: said });
    remove();
  });

  it('is a square of exactly the requested size, whatever the shape of the image', () => {
    const square = { ...rendition, fit: 'square', pixels: 224 } as const;
    const { plan } = requestPreview(source, square);
    expect(plan).toMatchObject({ output: { width: 224, height: 224 }, window: { x: 0, y: 0 } });
  });
});
