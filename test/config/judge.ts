/** Evaluates alerts on given series with promtool. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Throws promtool's report if the alerts differ from the expected ones. */
export function judge(rulesFile: object, test: object): void {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-alerts-'));
  try {
    writeFileSync(join(folder, 'rules.yml'), JSON.stringify(rulesFile));
    const suite = { rule_files: ['rules.yml'], evaluation_interval: '1m', tests: [test] };
    writeFileSync(join(folder, 'test.yml'), JSON.stringify(suite));
    execFileSync('promtool', ['test', 'rules', join(folder, 'test.yml')], { stdio: 'pipe' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
