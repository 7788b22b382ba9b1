/** Resources of each pod of an ImageService: CPU, memory and disk space. */
import { bytes } from '../amount-field.ts';
import { alsoChecked, group, text } from '../fields.ts';
import { parseBytes, readBytes } from '../quantity.ts';

const cpu = text('an amount of CPU such as 500m or 2', { max: 12, pattern: /^[1-9][0-9]{0,8}m?$/ });

const SIZE = /^[1-9][0-9]{0,8}(Ki|Mi|Gi|Ti|k|M|G|T)$/;
const memory = bytes('an amount of memory such as 512Mi or 2Gi', { pattern: SIZE });
export const storageSize = bytes('an amount of storage such as 1Gi', { pattern: SIZE });

/** A server has up to 99 MB at rest (docs/performance.md). */
const MEMORY_MIN = '128Mi';
const TOO_LITTLE = `must be ${MEMORY_MIN} or more, as no process starts with less`;
const BELOW_REQUEST = 'must not be below `requests.memory`';

const memoryLimit = alsoChecked(memory, {
  rule: `!isQuantity(self) || !quantity(self).isLessThan(quantity('${MEMORY_MIN}'))`,
  message: TOO_LITTLE,
});

const asked = {
  cpu: cpu.describe('Cores, or thousandths of a core with m.').optional(),
  memory: memory.describe('Bytes, with a unit.').optional(),
};
const most = {
  ...asked,
  memory: memoryLimit.describe(`Bytes, with a unit; ${MEMORY_MIN} or more.`).optional(),
};

/** An invalid amount is reported at its own field instead. */
const HAS_BOTH = ['self.requests', 'self.limits']
  .map((part) => `has(${part}) && has(${part}.memory) && isQuantity(${part}.memory)`)
  .join(' && ');

export const resources = group('{ requests, limits }', {
  requests: group('{ cpu, memory }', asked).describe('What is reserved for each pod.').optional(),
  limits: group('{ cpu, memory }', most)
    .describe('The most that each pod may use; the Node.js heap is sized to fit the memory.')
    .optional(),
})
  .superRefine(({ requests, limits }, { addIssue }) => {
    const [least = 0, limit] = [requests, limits].map((each) => readBytes(each?.memory ?? ''));
    if (limit === undefined) return;
    const refuse = (message: string) =>
      addIssue({ code: 'custom', path: ['limits', 'memory'], message });
    if (limit < parseBytes(MEMORY_MIN)) refuse(TOO_LITTLE);
    else if (least > limit) refuse(BELOW_REQUEST);
  })
  .describe('CPU and memory of each pod; the defaults are measured.')
  .meta({
    'x-kubernetes-validations': [
      {
        rule: `!(${HAS_BOTH}) || !quantity(self.limits.memory).isLessThan(quantity(self.requests.memory))`,
        message: `\`limits.memory\` ${BELOW_REQUEST}`,
      },
    ],
  });
