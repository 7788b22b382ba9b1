/** The fields of every kind's status: only the operator writes it, so no message explains a fault in it. */
import { z } from 'zod';

const time = z.iso.datetime({ error: 'a time' });

const condition = z.object({
  type: z.string().min(1).max(316).describe('Which condition this is.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether the condition holds.'),
  reason: z.string().min(1).max(1024).describe('The reason as one word, for programs.'),
  message: z.string().max(32768).describe('The reason in a sentence, for people.'),
  lastTransitionTime: time.describe('When the status last changed.'),
  observedGeneration: z
    .int()
    .min(0)
    .describe('The generation of the resource that the condition describes.')
    .optional(),
});

/** The fields common to all statuses. */
export const statusFields = {
  observedGeneration: z
    .int()
    .min(-1)
    .describe('The generation that was last reconciled; -1 before the first time.')
    .optional(),
  conditions: z
    .array(condition)
    .max(16)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    .describe('The state of the resource; each condition answers one question.')
    .optional(),
};

/** A text that the operator writes into a status. */
export function allocated(description: string) {
  return z.string().max(253).describe(description).optional();
}

export const statusTime = time;
