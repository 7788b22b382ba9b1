/** Load on an installation while its pods change: viewers request images, and an API key calls the API. */
import { API_HOST, ROOT_DOMAIN } from './installation.ts';
import { until } from './kubectl.ts';
import { watch } from './viewers.ts';

export type Load = {
  /** Waits for more than 20 further requests of each kind of load. */
  goesOn(): Promise<void>;
};

/** The port of the ingress controller, the custom domain and the API key of the project `shop`. */
type LoadTarget = { port: number; domain: string; secret: string };

/**
 * Keeps up the load while `happens` runs. Returns the number of images, the failed requests, and
 * the outcome of `happens`.
 */
export async function loadWhile(target: LoadTarget, happens: (load: Load) => Promise<void>) {
  const [viewers, holder] = [look(target), ask(target)];
  const [happened] = await Promise.allSettled([
    happens({
      goesOn: async () => {
        const [seen, asked] = [viewers.count(), holder.count()];
        await until('more images', async () => viewers.count() > seen + 20);
        await until('more of the API', async () => holder.count() > asked + 20);
      },
    }),
  ]);
  const [images, answers] = await Promise.all([viewers.end(), holder.end()]);
  return {
    delivered: images.asked - images.wrong.length,
    wrong: [...images.wrong, ...answers.wrong],
    happened,
  };
}

/** Requests masters and derived images, stored and new ones, from both hosts. */
function look({ port, domain }: LoadTarget) {
  const hosts = [`shop.${ROOT_DOMAIN}`, domain];
  const paths = ['/originals/f/photo.jpg', '/resize/300x200/format/webp/f/photo.jpg'];
  return watch(
    (index) => ({
      host: hosts[index % 2] ?? '',
      // Every tenth request is for an image that is not rendered yet.
      path:
        index % 10 === 0
          ? `/resize/${60 + (index % 400)}x60/f/photo.jpg`
          : (paths[index % 3 > 0 ? 1 : 0] ?? ''),
      port,
    }),
    { viewers: 3, pause_ms: 50 },
  );
}

function ask({ port, secret }: LoadTarget) {
  const path = '/v1/projects/shop/files/photo.jpg';
  const headers = { 'x-api-key': secret };
  return watch(() => ({ host: API_HOST, path, port, headers }), { viewers: 1, pause_ms: 50 });
}
