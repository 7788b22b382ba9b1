// A page that lets people choose and add pictures, the server behind it, and a receiver of webhooks. In a clone of
// Tintype: eval "$(npx tintype env)", then node docs/walkthroughs/developer/site.js
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { env } from 'node:process';
import { createApiClient, expressHandler, signedUrls, verifyWebhook } from 'tintype/sdk';

const port = env.PORT ?? 3000;
const origin = `http://localhost:${port}`;
const project = env.TINTYPE_PROJECT;
const api = createApiClient({ url: env.TINTYPE_API, apiKey: env.TINTYPE_KEY });
const images = signedUrls({ api, project });
const { callback_secret: secret } = JSON.parse(readFileSync('first-day/callback.json', 'utf8'));

const page = `<!doctype html>
<title>Shop</title>
<button>Choose a picture</button>
<p><img alt=""></p>
<script type="module">
  import { openPicker } from '/tintype/sdk/browser/picker.js';

  const session = async (refreshOf) => {
    const answer = await fetch('/session', { method: 'POST', body: JSON.stringify({ refreshOf }) });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  document.querySelector('button').onclick = async () => {
    const onError = ({ code, message }) => console.error(code, message);
    const [file] = (await openPicker({ session, onError }).chosen) ?? [];
    if (file) document.querySelector('img').src = '/picture/' + file.file_slug;
  };
</script>`;

/** By the first name in the path. */
const answers = {
  '': () => answerAs('text/html', page),
  // What `make sdk` made.
  tintype: (_, path) => answerAs('text/javascript', readFileSync(`.build/sdk/dist/${path}`)),
  session: (request) => mintSession(request),
  picture: async (_, slug) =>
    Response.redirect(await images.derived(slug, { resize: { width: 480 } })),
  hook: (request) => receive(request),
};

function answerAs(type, body) {
  return new Response(body, { headers: { 'content-type': type } });
}

/** A real site looks first who is signed in. */
async function mintSession(request) {
  const { refreshOf } = await request.json();
  const session = await api.call('POST /v1/projects/{slug}/library-sessions', {
    path: { slug: project },
    body: {
      ...{ library: 'default', permissions: ['browse', 'upload'], origin, subject: 'me' },
      ...(refreshOf === null ? {} : { refresh_of: refreshOf }),
    },
  });
  return Response.json(session);
}

async function receive(request) {
  const signature = request.headers.get('x-service-signature');
  const verdict = verifyWebhook({ secret, signature, body: await request.text() });
  if (verdict.valid) console.log(verdict.event.event, verdict.event.data);
  return new Response(null, { status: verdict.valid ? 204 : 400 });
}

async function answer(request) {
  const [, first, ...rest] = new URL(request.url).pathname.split('/');
  return (await answers[first]?.(request, rest.join('/'))) ?? new Response(null, { status: 404 });
}

const fail = (error) => new Response(String(error), { status: 500 });
const handler = expressHandler((request) => answer(request).catch(fail));
createServer(handler).listen(port, 'localhost', () => console.log(`open ${origin}`));
