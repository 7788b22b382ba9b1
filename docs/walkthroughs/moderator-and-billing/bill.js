// Explains a usage record, read from standard input: hours, the days that they make, and the whole.
import { text } from 'node:stream/consumers';

const { project_slug, hourly, daily } = JSON.parse(await text(process.stdin));
const sumOf = (list, field) => list.reduce((sum, each) => sum + each[field], 0);
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

console.log(project_slug);
for (const { day, credits, charged_credits, finalized_at } of daily) {
  const hours = hourly.filter(({ window_start }) => window_start.startsWith(day));
  for (const { window_start, requests, bytes, credits: cost } of hours) {
    console.log(
      `  ${window_start.slice(0, 13)}:00  ${requests} deliveries, ${mib(bytes)}: ${cost} credits`,
    );
  }
  const fits = sumOf(hours, 'credits') === credits ? 'the hours add up' : 'HOURS ARE MISSING';
  const state = finalized_at === null ? 'so far' : 'for good';
  console.log(`  ${day}  ${credits} credits (${fits}), charged ${charged_credits} ${state}`);
}
console.log(
  `  in all  ${sumOf(daily, 'credits')} credits, charged ${sumOf(daily, 'charged_credits')}`,
);
