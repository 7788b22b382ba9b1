/** Prints the comparisons as tables: by mode, family, source and format, and the least similar images. */
import type { Compared } from '../../support/quality/compare.ts';

const WORST = 12;

export function printReport(compared: readonly Compared[]): string {
  const subjects = new Set(compared.map(({ subject }) => subject)).size;
  const halfWay = compared.filter(({ read }) => read !== 'original').length;
  return [
    `${compared.length} renders of ${subjects} pictures, ${halfWay} of them from a half-way image`,
    ...tableOf('mode', groupBy(compared, 'mode')),
    ...tableOf('family', groupBy(compared, 'family')),
    ...tableOf('read', groupBy(compared, 'read')),
    ...tableOf('format', groupBy(compared, 'format')),
    '',
    'least alike, before the encoder',
    ...compared
      .toSorted((a, b) => a.ssim - b.ssim)
      .slice(0, WORST)
      .map(printOne),
    '',
    'furthest behind the straight render, encoded',
    ...compared
      .toSorted((a, b) => a.ours - a.straight - (b.ours - b.straight))
      .slice(0, WORST)
      .map(printOne),
    '',
  ].join('\n');
}

function groupBy(
  compared: readonly Compared[],
  key: 'mode' | 'family' | 'read' | 'format',
): Map<string, Compared[]> {
  const groups = new Map<string, Compared[]>();
  for (const each of compared) groups.set(each[key], [...(groups.get(each[key]) ?? []), each]);
  return groups;
}

function tableOf(title: string, groups: Map<string, Compared[]>): string[] {
  const head = ['lowest', 'p5', 'median', 'enc min', 'enc p5', 'behind', 'dE p99', 'shift px'];
  return [
    '',
    `${title.padEnd(46)}${head.map((word) => word.padStart(9)).join('')}      n`,
    ...[...groups].map(([name, rows]) => printGroup(name, rows)),
  ];
}

function printGroup(name: string, rows: readonly Compared[]): string {
  const sorted = (key: 'ssim' | 'encoded') => rows.map((row) => row[key]).toSorted((a, b) => a - b);
  const [before, encoded] = [sorted('ssim'), sorted('encoded')];
  const behind = Math.max(...rows.map(({ ours, straight }) => straight - ours));
  const cells = [at(before, 0), at(before, 0.05), at(before, 0.5), at(encoded, 0)]
    .concat(at(encoded, 0.05), behind)
    .map((value) => value.toFixed(4));
  cells.push(Math.max(...rows.map((row) => row.color_shift)).toFixed(2));
  cells.push(Math.max(...rows.map((row) => row.position_shift)).toFixed(3));
  const columns = cells.map((cell) => cell.padStart(9)).join('');
  return name.padEnd(46) + columns + String(rows.length).padStart(7);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function printOne(row: Compared): string {
  const { ssim, encoded, ours, straight, subject, mode, format, read } = row;
  const numbers = [ssim, encoded, ours, straight].map((value) => value.toFixed(4)).join('  ');
  return `  ${numbers}  ${row.position_shift.toFixed(3)} px  ${subject} | ${mode} | ${format} from ${read}`;
}
