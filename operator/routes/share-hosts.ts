/** Distributes hosts over routes that have room for some of them only. */

type Room = {
  /** The current hosts of each route; only these routes are filled. */
  held: readonly (readonly string[])[];
  most: number;
};

/**
 * A host stays in its current route, so that none lacks a route while several are written one by
 * one.
 */
export function shareHosts(hosts: readonly string[], { held, most }: Room): string[][] {
  const routes = new Map<string, number>();
  const left = held.map(() => most);
  const place = (host: string, fits: (route: number) => boolean) => {
    const route = left.findIndex((room, each) => room > 0 && fits(each));
    if (route === -1) return;
    routes.set(host, route);
    left[route] = (left[route] ?? 0) - 1;
  };
  for (const host of hosts) place(host, (route) => held[route]?.includes(host) === true);
  for (const host of hosts) if (!routes.has(host)) place(host, () => true);
  return held.map((_, route) => hosts.filter((host) => routes.get(host) === route));
}
