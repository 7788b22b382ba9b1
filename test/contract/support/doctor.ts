/** Runs `tintype doctor --json` and parses its checks. */
import { runTintype } from './tintype.ts';

export type Checked = {
  area: string;
  name: string;
  outcome: string;
  says: string;
  advice?: string;
};
export type Diagnosis = { code: number | null; ok: boolean; checks: Checked[] };

export async function diagnose(
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<Diagnosis> {
  const { code, stdout, stderr } = await runTintype(['doctor', '--json', ...words], { env });
  if (stdout === '') throw new Error(`doctor said nothing: ${stderr}`);
  const { ok, checks } = JSON.parse(stdout) as Omit<Diagnosis, 'code'>;
  return { code, ok, checks };
}

export function wrongIn({ checks }: Diagnosis): string[] {
  return checks
    .filter(({ outcome }) => outcome === 'wrong')
    .map(({ area, name }) => `${area}: ${name}`);
}
