/** Every signed credential, with its verifier, which must never accept anything that was not signed. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { presentedCredential } from '../../../runtime/api/auth/presented-credential.ts';
import { parseDeliveryUrl } from '../../../runtime/core/delivery/url.ts';
import { ServiceError } from '../../../runtime/core/errors.ts';
import { signDeliveryUrl, verifyDeliveryUrl } from '../../../runtime/core/signing/delivery-url.ts';
import { parseTimestamped } from '../../../runtime/core/signing/timestamped.ts';
import { signWebhook, verifyWebhook } from '../../../runtime/core/signing/webhook.ts';
import { createIdentity } from '../../../runtime/platform/identity.ts';
import { createSealing, SealingError } from '../../../runtime/platform/sealing.ts';
import { printFolderPut, verifyFolderPut } from '../../../runtime/platform/storage/folder-url.ts';
import { type Kind, keyKinds, ownKinds, specifiedKinds } from '../../support/token-kinds.ts';
import { bytes, refusals, type Target, text } from '../target.ts';

const KEY = Buffer.alloc(32, 9);
/** Kinds whose header may contain further fields of later senders. */
const WITH_ROOM: readonly string[] = ['webhook', 'provider A'];

function tokenTarget({ name, token, verifies }: Kind): Target {
  return text({
    name: `token-${name.toLowerCase().replaceAll(' ', '-')}`,
    seeds: () => [token],
    run(input) {
      if (!verifies(input)) return undefined;
      if (WITH_ROOM.includes(name)) assertSaysSame(input, token);
      else if (name !== 'API key') assert.equal(input, token, 'what was not signed is taken');
      return true;
    },
  });
}

function assertSaysSame(input: string, token: string): void {
  const [said, meant] = [parseTimestamped(input), parseTimestamped(token)];
  assert.equal(said?.t, meant?.t);
  assert.ok(said?.v1.includes(meant?.v1[0] ?? ''), 'what was not signed is taken');
}

const kinds = [...ownKinds(() => KEY), ...specifiedKinds(), ...keyKinds()];

const EXP = 1_800_000_000;
const delivery = {
  secret: KEY,
  project_id: 'prj_1',
  kid: 'k1',
  exp: EXP,
  path: '/format/webp/f/a',
};
const signedUrl = `${delivery.path}?exp=${EXP}&kid=k1&sig=${signDeliveryUrl(delivery)}`;

const wholeUrl = text({
  name: 'signed-delivery-url',
  seeds: () => [signedUrl],
  run(input) {
    const url = parseDeliveryUrl(input);
    if (url?.signature == null) return undefined;
    const { kid, exp, sig } = url.signature;
    const facts = { ...delivery, kid, exp, path: url.path, sig, now_seconds: EXP - 60 };
    const verdict = verifyDeliveryUrl(facts);
    if (verdict !== 'invalid_signature') assert.deepEqual(url, parseDeliveryUrl(signedUrl));
    return verdict;
  },
});

const clock = { now: () => new Date((EXP - 60) * 1000) };
const issuer = { publicUrl: '', secret: KEY, clock };
const put = { bucket: 'ingest', key: 'ingest/upl_1', content_type: 'image/png', size_bytes: 5 };
const puts = [put, { ...put, upload_id: 'mpu_1', part_number: 2 }].map(
  (terms) => printFolderPut(issuer, { ...terms, expires_in_seconds: 60 }).url,
);

const folderPut = text({
  name: 'signed-folder-put',
  seeds: () => puts,
  run(input) {
    const found = verifyFolderPut(KEY, input);
    if (found !== undefined) assert.ok(puts.includes(input), 'what was not signed is taken');
    return found;
  },
});

const T = EXP - 60;

/** A webhook body with a valid signature; receivers parse the body only then. */
const webhookBody = bytes({
  name: 'webhook-body',
  seeds: () => [
    Buffer.from(
      '{"id":"a","event":"file.ready","created_at":"2026-11-20T00:00:00.000Z","data":{"x":[1]}}',
    ),
  ],
  run(body) {
    const header = signWebhook({ secrets: ['webhook-secret'], t: T, body });
    const verdict = verifyWebhook({ secret: 'webhook-secret', header, body, now_seconds: T });
    if (!verdict.valid) assert.equal(verdict.reason, 'invalid_body');
    return verdict.valid ? verdict.event : undefined;
  },
});

const sealing = createSealing([{ id: 'k1', key: KEY }]);
const sealed = sealing.seal(Buffer.from('a secret'), 'signing-key:k1');

const sealedSecret = bytes({
  name: 'sealed-secret',
  seeds: () => [sealed],
  run(input) {
    const opened = sealing.open(input, 'signing-key:k1');
    // Compares only the secret, because every sealing of it gives another envelope.
    assert.equal(opened.toString(), 'a secret', 'what was not sealed is opened');
    return opened;
  },
  refuses: refusals(SealingError),
});

const credentials = text({
  name: 'credential-of-headers',
  seeds: () => ['Bearer ls1.k1.abc.def', 'bearer  eyJhbGciOiJSUzI1NiJ9.e30.sig', '\nsk_live_0123'],
  run(input) {
    const [authorization, key] = input.split('\n');
    const headers = { authorization, ...(key === undefined ? {} : { 'x-api-key': key }) };
    const found = presentedCredential(headers);
    if ('token' in found) assert.ok(!/\s/.test(found.token) && found.token !== '');
    return found.kind === 'nothing' ? undefined : found;
  },
});

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEYS = JSON.stringify({ keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid: 'a' }] });
const identity = createIdentity({
  issuer: 'https://login.example/client_1',
  jwksUrl: 'https://login.example/keys',
  clock,
  fetch: async () => new Response(KEYS),
});
const accessToken = jwt({ alg: 'RS256', typ: 'at+jwt', kid: 'a' });

function jwt(header: object): string {
  const claims = { iss: 'https://login.example/client_1', sub: 'u1', exp: EXP };
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), pair.privateKey).toString('base64url')}`;
}

const accessTokens = text({
  name: 'access-token',
  seeds: () => [accessToken, jwt({ alg: 'none' }), jwt({ alg: 'HS256', kid: 'a' })],
  async run(input) {
    const { sub } = await identity.verify(input);
    assert.equal(sub, 'u1');
    assert.equal(
      input.split('.').slice(0, 2).join('.'),
      accessToken.split('.').slice(0, 2).join('.'),
    );
    return sub;
  },
  refuses: refusals(ServiceError, 'unauthorized'),
});

export const tokenTargets: readonly Target[] = [
  ...kinds.map(tokenTarget),
  wholeUrl,
  folderPut,
  webhookBody,
  sealedSecret,
  credentials,
  accessTokens,
];
