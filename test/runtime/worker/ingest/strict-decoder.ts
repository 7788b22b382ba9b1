/** The real decoder with one limit lowered in its source while loading: small images do not reach the real one. */
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!url.endsWith('/core/limits.ts')) return loaded;
    const source = String(loaded.source);
    const smaller = source.replace(/(?<=SANITIZED_GROWN_BYTES_MAX = )[\d_]+/, '12_000');
    if (smaller === source) throw new Error('the limit has another name now');
    return { ...loaded, source: smaller };
  },
});
await import('../../../../runtime/worker/sandbox/child.ts');
