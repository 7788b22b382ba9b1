/**
 * Recognizable values with names, and a search for them in the output of a Tintype, also in hex, base64 and URL
 * encoding.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

export type Canaries = {
  /** Creates a secret that begins with `canary`. */
  make(name: string): string;
  /** Adds an existing secret. */
  note(name: string, secret: string): string;
  /** Creates a key in the format of the configuration. */
  makeKeys(name: string): string;
  /** The number of secrets. */
  count(): number;
  /** Returns the names of the secrets in a text. */
  foundIn(text: string): string[];
};

const LENGTH_MIN = 9;

export function createCanaries(): Canaries {
  const spellings = new Map<string, string[]>();
  const note = (name: string, secret: string) => {
    if (secret.length < LENGTH_MIN) throw new Error(`${name} would be found by chance`);
    spellings.set(name, [...(spellings.get(name) ?? []), ...spellingsOf(Buffer.from(secret))]);
    return secret;
  };
  return {
    note,
    make: (name) => note(name, `canary${randomBytes(12).toString('hex')}`),
    makeKeys: (name) => {
      const key = randomBytes(32);
      spellings.set(name, spellingsOf(key).slice(1));
      return `k1:${key.toString('base64')}`;
    },
    count: () => spellings.size,
    foundIn: (text) =>
      [...spellings].flatMap(([name, all]) =>
        all.some((one) => text.includes(one)) ? [name] : [],
      ),
  };
}

/** Leaves out the end of the base64, which depends on the bytes that follow. */
function spellingsOf(secret: Buffer): string[] {
  const text = secret.toString();
  const base64 = secret.toString('base64').replace(/.?=*$/, '');
  return [...new Set([text, encodeURIComponent(text), secret.toString('hex'), base64])];
}

/** Returns every row of every table as text. */
export async function dumpDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
    );
    const rows = [];
    for (const { name } of tables.rows) {
      const all = await client.query<{ row: string }>(`select each::text as row from ${name} each`);
      rows.push(...all.rows.map(({ row }) => `${name} ${row}`));
    }
    return rows.join('\n');
  } finally {
    await client.end();
  }
}
