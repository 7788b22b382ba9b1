/** The few calls that the command makes, with an API key; a refusal becomes a line for the terminal. */
import { Advice } from '../platform/advice.ts';

export type Api = {
  get<Body>(path: string): Promise<Body>;
  post<Body>(path: string, body?: object): Promise<Body>;
};

export function createApi(baseUrl: string, apiKey: string): Api {
  const call = async <Body>(method: string, path: string, body?: object): Promise<Body> => {
    const response = await fetch(new URL(path, baseUrl), {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new Advice(
        `${baseUrl} does not answer: is Tintype running? Start it with \`make up\``,
        { cause },
      );
    });
    if (response.ok) return (await response.json()) as Body;
    throw new Advice(await printRefusal(response));
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
  };
}

type Envelope = { error: { code: string; message: string; details?: unknown } };

async function printRefusal(response: Response): Promise<string> {
  const { error } = (await response.json()) as Envelope;
  const details = error.details === undefined ? '' : ` ${JSON.stringify(error.details)}`;
  return `${error.code}: ${error.message}${details}`;
}
