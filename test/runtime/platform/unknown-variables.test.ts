import { expect, it } from 'vitest';
import { variables } from '../../../runtime/platform/config-variables.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import {
  unknownVariables,
  warnOfUnknownVariables,
} from '../../../runtime/platform/unknown-variables.ts';

it('an unknown TINTYPE_ variable is reported by its name, and never with its value', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'info', name: 'test', destination });
  warnOfUnknownVariables({ TINTYPE_TOKEN_KEY: 'k1:secret', TINTYPE_LOG_LEVEL: 'info' }, log);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', variable: 'TINTYPE_TOKEN_KEY' },
  ]);
  expect(lines.join()).not.toContain('secret');
});

it('variables of Tintype, the sample shell, a Kubernetes Service or others are not reported', () => {
  const known = Object.values(variables).map(({ name }) => name);
  const shell = ['TINTYPE_API', 'TINTYPE_PROJECT', 'TINTYPE_KEY', 'TINTYPE_DELIVERY'];
  const service = ['SERVICE_HOST', 'SERVICE_PORT_HTTP', 'PORT_80_TCP', 'PORT_80_TCP_ADDR'];
  const names = [...known, ...shell, ...service.map((end) => `TINTYPE_API_${end}`), 'PATH', 'HOME'];
  expect(unknownVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
});
