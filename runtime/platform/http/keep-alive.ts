/**
 * How long a server keeps an idle connection between requests. A proxy that keeps connections longer may send a request
 * just as the server closes; Envoy keeps them for an hour by default, so we keep them longer. TCP keep-alive, once a
 * minute, finds peers that vanished without a word.
 */
export const keepAlive = {
  keepAliveTimeout: 3_610_000,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
};
