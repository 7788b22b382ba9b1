/** A single connection outside all pools, for work that brings its own statements. */
import pg from 'pg';

export type Connection = pg.Client;

/** Resolves once the server has closed the connection. */
export async function withConnection<T>(
  settings: pg.ClientConfig,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = new pg.Client(settings);
  // The statement that runs at that time reports the failure.
  connection.on('error', () => undefined);
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}
