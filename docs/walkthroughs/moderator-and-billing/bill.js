// Explains a usage record, read from standard input: hours, the days that they make, and the whole.
import { text } from 'node:stream/consumers';

const { project_slug, hourly, daily } = JSON.parse(await text(process.stdin));
const sumOf = (list, field) => list.reduce((sum, each) => sum + each[field], 0);
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const dayOf = ({ window_start }) => window_start.slice(0, 10);
const days = new Set([...hourly.map(dayOf), ...daily.map(({ day }) => day)]);

function stateOf(credits, { charged_credits, finalized_at, ...day }) {
  const fits = credits === day.credits ? 'the hours add up' : 'HOURS ARE MISSING';
  const sum = credits > day.credits ? 'more came since it was charged' : fits;
  const state = finalized_at === null ? 'so far' : 'with all of its hours final';
  return `${day.credits} credits (${sum}), charged ${charged_credits} ${state}`;
}

console.log(project_slug);
for (const day of [...days].sort()) {
  const hours = hourly.filter((hour) => dayOf(hour) === day);
  for (const { window_start, requests, bytes, credits: cost } of hours) {
    console.log(
      `  ${window_start.slice(0, 13)}:00  ${requests} deliveries, ${mib(bytes)}: ${cost} credits`,
    );
  }
  const credits = sumOf(hours, 'credits');
  const row = daily.find((each) => each.day === day);
  const state = row === undefined ? `${credits} credits, not charged yet` : stateOf(credits, row);
  console.log(`  ${day}  ${state}`);
}
console.log(
  `  in all  ${sumOf(hourly, 'credits')} credits, charged ${sumOf(daily, 'charged_credits')}`,
);
