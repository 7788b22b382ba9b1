/**
 * How long a server keeps a connection between requests. A proxy that would keep it for longer sends a request into it
 * at the moment at which it closes: Envoy keeps one for an hour, where nobody says otherwise. So it is the system that
 * finds who has gone without a word, by asking each minute.
 */
export const keepAlive = {
  keepAliveTimeout: 3_610_000,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
};
