/** The building blocks of the ImageService schema, in Kubernetes terms. */
import { z } from 'zod';
import { URL_LENGTH_MAX } from '../../runtime/core/limits.ts';
import { PORT_NUMBER } from '../../runtime/core/resources/web-address.ts';
import { isAddressRange } from '../../runtime/platform/config-types.ts';
import {
  checked,
  choice,
  distinct,
  group,
  integer,
  matching,
  named,
  objectName,
  text,
} from '../fields.ts';

const NAME_VALUE_MAX = 64;
/**
 * Kept short: the API server computes a rule's cost from its length, for every item that a list may
 * have.
 */
const LABEL_NAME = /^([a-z0-9]+((\.|-+)[a-z0-9]+)*\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
/** Like a label's name, except that the prefix before the slash may have capitals. */
const ANNOTATION_NAME =
  /^([A-Za-z0-9]+((\.|-+)[A-Za-z0-9]+)*\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-\w.]*[A-Za-z0-9])?)?$/;

/**
 * A registry, optionally with a port, and words between slashes. A colon after them begins a tag.
 */
export const REPOSITORY =
  '([A-Za-z0-9]+([.-]+[A-Za-z0-9]+)*(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*';

export const containerImage = text('a container image such as registry.example.com/tintype:1.2.3', {
  max: 512,
  pattern: new RegExp(
    `^${REPOSITORY}(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[a-z0-9]+:[A-Fa-f0-9]{32,128})?$`,
  ),
});

export const dataKey = text('a key of a Secret: letters, digits, "-", "_" and "."', {
  max: 253,
  pattern: /^[-._a-zA-Z0-9]+$/,
});

export function fileIn(kind: string) {
  return group('{ name, key }', {
    name: objectName(`the name of a ${kind}`).describe('Its name, in the same namespace.'),
    key: dataKey.describe('The key that holds the file.'),
  });
}

/** For the API server's rule: a host that ends in a number must be four of them. */
const ADDRESS = String.raw`(\.?(25[0-5]|2[0-4]\d|1?\d?\d)){4}([:/?#]|$)`;

type AddressRule = { max: number; pattern: RegExp; rule: string };

function address(expected: string, { max, pattern, rule }: AddressRule) {
  return text(expected, { max, pattern })
    .refine((value) => URL.canParse(value), { error: expected })
    .meta(checked(`${matching(pattern)} && (${rule})`, expected));
}

export const webAddress = address('an https:// or http:// URL', {
  max: URL_LENGTH_MAX,
  pattern: new RegExp(
    String.raw`^https?://([^\s/?#]*@)?([^\s/?#:@[\]]+|\[[0-9a-fA-F:.]+\])(:0*${PORT_NUMBER}?)?([/?#]\S*)?$`,
  ),
  rule: String.raw`!self.matches(r'^https?://([^/?#]*[.@])?\d+([:/?#]|$)') || self.matches(r'[/@]${ADDRESS}')`,
});

export const webOrigin = address('an origin such as https://api.example.com, without a path', {
  max: 261,
  pattern: new RegExp(
    `^https?://[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:0*${PORT_NUMBER})?$`,
  ),
  rule: String.raw`!self.matches(r'[/.]\d+(:|$)') || self.matches(r'/${ADDRESS}')`,
});

export const origins = distinct(webOrigin, { expected: 'a list of at most 64 origins', max: 64 });

export const domain = text('a host name such as img.example.com', {
  max: 190,
  pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/,
});

function labelValue(expected: string) {
  return text(expected, { min: 0, max: 63, pattern: LABEL_VALUE });
}

const labelName = text('a label name such as disk or example.com/disk', {
  max: 317,
  pattern: LABEL_NAME,
});

const annotationName = text('an annotation name such as example.com/contact', {
  max: 317,
  pattern: ANNOTATION_NAME,
});

const pairs = {
  expected: `a list of at most ${NAME_VALUE_MAX} items { name, value }`,
  max: NAME_VALUE_MAX,
};

export const labels = named(
  group('{ name, value }', {
    name: labelName.describe('The name of the label.'),
    value: labelValue('the value of a label').describe('Its value.'),
  }),
  pairs,
);

export const annotations = named(
  group('{ name, value }', {
    name: annotationName.describe('The name of the annotation.'),
    value: text('a text', { min: 0, max: 4096 }).describe('Its value.'),
  }),
  pairs,
);

export function replicas(max: number) {
  return integer(`a whole number, 0 to ${max}`, { min: 0, max });
}

export const tolerations = z
  .array(
    group('{ key, operator, value, effect, tolerationSeconds }', {
      key: labelName.describe('The key of the taint; unset: every taint.').optional(),
      operator: choice(['Equal', 'Exists']).describe('How the value is compared.').optional(),
      value: labelValue('the value of a taint').describe('The value of the taint.').optional(),
      effect: choice(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
        .describe('The effect; unset: every effect.')
        .optional(),
      tolerationSeconds: integer('a number of seconds, 0 to 86400', { min: 0, max: 86_400 })
        .describe('How long a NoExecute taint is tolerated.')
        .optional(),
    }),
    { error: 'a list of at most 32 tolerations' },
  )
  .max(32, { error: 'a list of at most 32 tolerations' })
  .meta({ 'x-kubernetes-list-type': 'atomic' });

/** Kubernetes validates this itself, and knows more about it. */
export const affinity = z
  .looseObject({}, { error: 'an affinity as pods have it' })
  .meta({ 'x-kubernetes-preserve-unknown-fields': true });

const rangeExpected = 'an address range such as 10.0.0.0/8';
const addressRange = text(rangeExpected, { max: 64 })
  .refine((range) => range.includes('/') && isAddressRange(range.replace(/\/0$/, '/1')), {
    error: rangeExpected,
  })
  .meta(checked('isCIDR(self)', rangeExpected));

const proxyExpected = 'an address, or an address range that is not everybody';

export const proxies = text(proxyExpected, { max: 64 })
  .refine(isAddressRange, { error: proxyExpected })
  // The API server does not accept an IPv4 address in IPv6 form.
  .meta(
    checked(
      "isIP(self) || (isCIDR(self) && !self.endsWith('/0')) || self.startsWith('::ffff:')",
      proxyExpected,
    ),
  );

/** Parties that connect to Tintype; it connects to all others. */
const CALLERS: readonly string[] = ['Clients', 'Metrics'];

const peer = group('{ party, cidr, port } or { party, namespace, podLabels, port }', {
  party: choice(['Database', 'AMQP', 'Storage', 'Credentials', 'Clients', 'Metrics']).describe(
    'Database: PostgreSQL. AMQP: RabbitMQ. Storage: the object storage. Credentials: what gives pods their cloud credentials (ports 80 and 443). Clients: who may call the API and the delivery hosts. Metrics: who may read metrics.',
  ),
  cidr: addressRange.describe('A range of addresses.').optional(),
  namespace: text('the name of a namespace', {
    max: 63,
    pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  })
    .describe('The name of a namespace.')
    .optional(),
  podLabels: labels
    .describe('Labels that the pods must all have; without namespace, pods of this one.')
    .optional(),
  port: integer('a port, 1 to 65535', { min: 1, max: 65_535 })
    .describe(
      'The port that it listens on; default that of its URL. Behind a Service: the port of the pods (targetPort).',
    )
    .optional(),
})
  .refine(
    (it) => (it.cidr === undefined) === (it.namespace !== undefined || it.podLabels !== undefined),
    {
      error: 'either cidr, or namespace and podLabels',
    },
  )
  .refine((it) => it.port === undefined || !CALLERS.includes(it.party), {
    error: 'port only with parties that pods connect to',
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.cidr) != (has(self.namespace) || has(self.podLabels))',
        message: 'must have either `cidr`, or `namespace` and `podLabels`',
      },
      {
        rule: `!has(self.port) || !(self.party in ['${CALLERS.join("', '")}'])`,
        message: "`port` must not be set with `party` 'Clients' and 'Metrics', who call",
      },
    ],
  });

export const peers = z
  .array(peer, { error: 'a list of at most 64 peers' })
  .max(64, { error: 'a list of at most 64 peers' })
  .meta({ 'x-kubernetes-list-type': 'atomic' });
