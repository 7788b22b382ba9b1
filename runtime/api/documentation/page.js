/*
 * Shows /openapi.json and completes the requests of a session before they leave the browser: it reads the subject from
 * the token and signs a write with the secret that was entered. The secret itself is never sent.
 */
const encoder = new TextEncoder();

// Swagger UI picks its light or dark theme by a class; the page does the same.
const darkScheme = window.matchMedia('(prefers-color-scheme: dark)');
function followScheme() {
  document.documentElement.classList.toggle('dark-mode', darkScheme.matches);
}
darkScheme.addEventListener('change', followScheme);
followScheme();

window.addEventListener('load', () => {
  window.SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#page',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    persistAuthorization: false,
    tryItOutEnabled: false,
    validatorUrl: null,
    requestInterceptor: completeRequest,
    onComplete: nameControls,
    plugins: [readOneOperation, filterOperations],
  });
});

/**
 * Swagger UI resolves the whole document again for each operation that is opened; this passes only
 * the part it needs.
 */
function readOneOperation() {
  return {
    afterLoad({ fn }) {
      const { resolveSubtree } = fn;
      fn.resolveSubtree = (document, path, options) =>
        resolveSubtree(neededBy(document, path), path, options);
    },
  };
}

/**
 * Swagger UI looks for the phrase as a whole; here each word may match anywhere in the method, path
 * and texts of an operation.
 */
function filterOperations() {
  const opsFilter = (byTag, phrase) => {
    const words = phrase.toLowerCase().split(/\s+/);
    const isMeant = (tag) => (entry) => {
      const said = ['method', 'path'].map((name) => entry.get(name));
      const more = ['operationId', 'summary', 'description'].map((name) =>
        entry.getIn(['operation', name]),
      );
      const text = [tag, ...said, ...more].join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return byTag
      .map((of, tag) => of.update('operations', (entries) => entries.filter(isMeant(tag))))
      .filter((of) => of.get('operations').size > 0);
  };
  const operations = (Operations, { React }) =>
    function Found(props) {
      const isThere = props.specSelectors.taggedOperations().size > 0;
      return isThere
        ? React.createElement(Operations, props)
        : React.createElement('p', null, 'No operation has all of these words.');
    };
  return { fn: { opsFilter }, wrapComponents: { operations } };
}

/**
 * Labels controls that Swagger UI leaves unnamed, and makes scrolling blocks focusable so that the
 * keyboard can scroll them.
 */
function nameControls() {
  const input = document.querySelector('.operation-filter-input');
  input.placeholder = 'Filter by method, path or words, such as: get signed';
  input.setAttribute('aria-label', 'Filter operations');
  document.querySelector('#servers')?.setAttribute('aria-label', 'Server');
  for (const block of document.querySelectorAll('.info pre')) block.tabIndex = 0;
}

/** The value at the path, and everything that it references. */
function neededBy(document, path) {
  const { openapi, servers } = document;
  const needed = { openapi, servers, paths: {}, components: {} };
  const take = (keys) => {
    const value = keys.reduce((found, key) => found?.[key], document);
    let place = needed;
    for (const key of keys.slice(0, -1)) place = place[key] ??= {};
    const last = keys.at(-1);
    if (value === undefined || Object.hasOwn(place, last)) return;
    place[last] = value;
    for (const [, reference] of JSON.stringify(value).matchAll(/"\$ref":"#\/([^"]+)"/g))
      take(reference.split('/'));
  };
  take(path);
  return needed;
}

async function completeRequest(request) {
  // `tintype token` prints the header value with `Bearer`, so the prefix may be doubled.
  const given = request.headers.Authorization?.replace(/^(?:Bearer )+/i, 'Bearer ');
  if (given !== undefined) request.headers.Authorization = given;
  const token = /^Bearer (\S+)$/.exec(given ?? '')?.[1];
  const names = Object.keys(request.headers).map((name) => name.toLowerCase());
  const subject = token === undefined ? undefined : subjectOf(token);
  if (subject !== undefined && !names.includes('x-identity-user-id')) {
    request.headers['x-identity-user-id'] = subject;
  }
  const secret = request.headers['X-Request-Signature'];
  if (secret !== undefined) request.headers['X-Request-Signature'] = await sign(secret, request);
  return request;
}

function subjectOf(token) {
  try {
    const [, payload] = token.split('.');
    const text = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
    return JSON.parse(text).sub;
  } catch {
    return undefined;
  }
}

/** Hex HMAC-SHA256 of method, pathname and body. */
async function sign(secret, { method, url, body }) {
  const key = { name: 'HMAC', hash: 'SHA-256' };
  const usable = await crypto.subtle.importKey('raw', encoder.encode(secret), key, false, ['sign']);
  const { pathname } = new URL(url, location.href);
  const text = `${method.toUpperCase()}\n${pathname}\n${body ?? ''}`;
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', usable, encoder.encode(text)));
  return [...mac].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
