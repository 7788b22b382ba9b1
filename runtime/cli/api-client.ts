/** The few calls that the command makes, as a server or as a person; a refusal becomes a line for the terminal. */
import { signRequest } from '../core/signing/request-signature.ts';
import { Advice } from '../platform/advice.ts';

export type Api = {
  get<Body>(path: string): Promise<Body>;
  post<Body>(path: string, body?: object): Promise<Body>;
};

/** The headers that say who is calling. */
export type Credentials = (call: Call) => Record<string, string>;
type Call = { method: string; pathname: string; body: Uint8Array };

export function apiKey(key: string): Credentials {
  return () => ({ 'x-api-key': key });
}

/** A dashboard session: its headers, and a signature on every write. */
export function session(headers: Record<string, string>, signingSecret: string): Credentials {
  return (call) => {
    if (call.method === 'GET') return headers;
    return { ...headers, 'x-request-signature': signRequest(signingSecret, call) };
  };
}

export function createApi(baseUrl: string, credentials: Credentials): Api {
  const call = async <Body>(method: string, path: string, sent?: object): Promise<Body> => {
    const body = sent === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(sent));
    const response = await fetch(new URL(path, baseUrl), {
      method,
      headers: {
        'content-type': 'application/json',
        ...credentials({ method, pathname: path, body }),
      },
      ...(sent === undefined ? {} : { body }),
    }).catch((cause: unknown) => {
      throw new Advice(
        `${baseUrl} does not answer: is Tintype running? Start it with \`make up\``,
        { cause },
      );
    });
    if (response.ok) return (await response.json()) as Body;
    throw new Refusal(await readRefusal(response));
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
  };
}

/** What the API answered instead. */
export class Refusal extends Advice {
  override readonly name = 'Refusal';
  readonly code: string;

  constructor({ code, message, details }: Envelope['error']) {
    super(`${code}: ${message}${printDetails(details, message)}`);
    this.code = code;
  }
}

type Envelope = { error: { code: string; message: string; details?: Details } };
type Details = Readonly<Record<string, unknown>>;

/** In words, and without what the sentence says already. */
function printDetails(details: Details | undefined, message: string): string {
  const words = Object.entries(details ?? {}).flatMap(([name, value]) => {
    if (name === 'issues' && Array.isArray(value)) return value.map(printIssue);
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    return message.includes(text) ? [] : [`${name} ${text}`];
  });
  return words.length === 0 ? '' : ` (${words.join('; ')})`;
}

function printIssue({ path, message }: { path?: string; message?: string }): string {
  return `${path}: ${message}`;
}

async function readRefusal(response: Response): Promise<Envelope['error']> {
  return ((await response.json()) as Envelope).error;
}
