/** One connection outside of every pool, for work that brings its own statements. */
import pg from 'pg';

export type Connection = pg.Client;

/** Answers once the server has let it go. */
export async function withConnection<T>(
  settings: pg.ClientConfig,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = new pg.Client(settings);
  // What it fails with while a statement runs, the statement tells.
  connection.on('error', () => undefined);
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}
