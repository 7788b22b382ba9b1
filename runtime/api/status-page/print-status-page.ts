/** The text and charts of the status page. Spec: Public, status. */
import type { IncidentRecord, StatusRecord } from '../../core/resources/incident.ts';
import { statusServices } from '../../core/status.ts';
import { escapeHtml } from '../escape-html.ts';
import { printDay } from './print-day.ts';

/** Without a sample for this long, the state of a service is unknown. */
const FRESH_MS = 5 * 60_000;

type Service = StatusRecord['services'][number];
type State = 'works' | 'fails' | 'unknown';
type Seen = Service & { state: State };

const STATES: Readonly<Record<State, string>> = {
  works: 'Works',
  fails: 'Fails',
  unknown: 'Unknown',
};

export function printStatusPage({ services, incidents }: StatusRecord, now: Date): string {
  const seen = services.map((each) => ({ ...each, state: stateOf(each, now) }));
  const states = seen.map(({ state }) => state);
  const planned = incidents.filter(({ started_at }) => new Date(started_at) > now);
  const ended = incidents.filter(({ ended_at }) => ended_at !== null && new Date(ended_at) <= now);
  const open = incidents.filter((each) => !planned.includes(each) && !ended.includes(each));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="60">
<title>Status · Tintype</title>
<link rel="stylesheet" href="/status/status.css">
</head>
<body>
<main>
<h1 class="${open.length > 0 ? 'fails' : worst(states)}">${headline(states, open.length)}</h1>
<p class="faint">As of ${printTime(now.toISOString())}. This page reloads every minute.</p>
${open.map(printIncident).join('\n')}
${planned.length === 0 ? '' : ['<h2>Planned</h2>', ...planned.map(printIncident)].join('\n')}
<h2>Services</h2>
<ul class="services">
${seen.map((each) => printService(each, now)).join('\n')}
</ul>
<h2>The last seven days</h2>
${ended.length === 0 ? '<p>No incidents.</p>' : ended.map(printIncident).join('\n')}
</main>
</body>
</html>
`;
}

function stateOf({ samples }: Service, now: Date): State {
  const newest = samples.at(-1);
  if (newest === undefined || now.getTime() - Date.parse(newest.sampled_at) > FRESH_MS)
    return 'unknown';
  return newest.ok ? 'works' : 'fails';
}

function worst(states: readonly State[]): State {
  if (states.includes('fails')) return 'fails';
  return states.includes('unknown') ? 'unknown' : 'works';
}

function headline(states: readonly State[], openIncidents: number): string {
  if (states.includes('fails')) return 'A service is failing';
  if (openIncidents > 0) return 'There is an incident';
  if (states.includes('unknown')) return 'The state of some services is unknown';
  return 'All services work';
}

function printService({ service, samples, state }: Seen, now: Date): string {
  return `<li><div class="name"><span>${escapeHtml(nameOf(service))}</span> <strong class="${state}">${STATES[state]}</strong></div>
${printDay(samples, now)}</li>`;
}

function nameOf(service: string): string {
  return new Map<string, string>(Object.entries(statusServices)).get(service) ?? service;
}

function printIncident(incident: IncidentRecord): string {
  const { title, body, severity, services, started_at, ended_at } = incident;
  const until = ended_at === null ? 'on' : `until ${printTime(ended_at)}`;
  const names = [...new Set(services)].map(nameOf).join(', ');
  return `<article class="${severity}">
<h3>${escapeHtml(title)}</h3>
<p class="faint">${severity}, from ${printTime(started_at)} ${until}: ${escapeHtml(names)}</p>
<p class="said">${escapeHtml(body)}</p>
</article>`;
}

function printTime(at: string): string {
  return `<time datetime="${at}">${at.slice(0, 16).replace('T', ' ')} UTC</time>`;
}
