import { describe } from 'vitest';
import { createInProcessQueue } from '../../../../runtime/platform/queue/in-process.ts';
import { describeQueue } from './queue-contract.ts';

describe('the queue of one process', () => {
  describeQueue('in-process', async () => createInProcessQueue(), 1);
});
