/** What an installation is asked while something happens to its pods: images by viewers, and the API by a holder of a key. */
import { API_HOST, ROOT_DOMAIN } from './installation.ts';
import { until } from './kubectl.ts';
import { watch } from './viewers.ts';

export type Load = {
  /** Until more was asked of each than by now. */
  goesOn(): Promise<void>;
};

/** Of the ingress controller, and of the project `shop`. */
type LoadTarget = { port: number; domain: string; secret: string };

/** For as long as that takes; how many images came, which requests failed, and what became of it. */
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

/** Masters and derived images, warm and new, at both hosts. */
function look({ port, domain }: LoadTarget) {
  const hosts = [`shop.${ROOT_DOMAIN}`, domain];
  const paths = ['/originals/f/photo.jpg', '/resize/300x200/format/webp/f/photo.jpg'];
  return watch(
    (index) => ({
      host: hosts[index % 2] ?? '',
      // Every tenth is one that nobody rendered yet.
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
