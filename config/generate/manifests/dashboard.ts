/**
 * The Grafana dashboard: one row per part of Tintype, from the metrics of docs/reference/metrics.md.
 */

import { dashboardRows } from './dashboard-panels.ts';
import type { Manifest } from './manifest.ts';
import type { Panel } from './panel.ts';
import { labels, type Place } from './place.ts';

const COLUMNS = 24;
const WIDTH = 8;
const HEIGHT = 8;
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

const dashboard = {
  uid: 'tintype',
  title: 'Tintype',
  tags: ['tintype'],
  schemaVersion: 39,
  version: 1,
  editable: true,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  timezone: 'utc',
  templating: {
    list: [
      { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
      {
        name: 'namespace',
        label: 'Namespace',
        type: 'query',
        datasource: DATASOURCE,
        query: 'label_values(tintype_process_start_time_seconds, namespace)',
        refresh: 2,
        includeAll: true,
        allValue: '.*',
        multi: true,
      },
    ],
  },
  panels: placePanels(),
};

function placePanels(): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const row of dashboardRows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    row.panels.forEach((panel, index) => {
      const x = (index * WIDTH) % COLUMNS;
      const line = Math.floor((index * WIDTH) / COLUMNS);
      panels.push(
        printPanel(panel, {
          id: panels.length + 1,
          gridPos: { x, y: y + line * HEIGHT, w: WIDTH, h: HEIGHT },
        }),
      );
    });
    y += Math.ceil((row.panels.length * WIDTH) / COLUMNS) * HEIGHT;
  }
  return panels;
}

function printPanel({ title, description, unit, min, targets }: Panel, where: object): object {
  return {
    ...where,
    type: 'timeseries',
    title,
    description,
    datasource: DATASOURCE,
    fieldConfig: {
      defaults: {
        unit,
        ...(min === undefined ? { min: 0 } : {}),
        custom: { fillOpacity: 10, showPoints: 'never' },
      },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: targets.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}

export const dashboardFile: [string, string] = [
  'config/grafana/tintype.json',
  `${JSON.stringify(dashboard, null, 2)}\n`,
];

export const dashboardManifest: Manifest = {
  file: 'dashboard',
  when: '.Values.metrics.dashboard.enabled',
  make: (place: Place) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `${place.fullname}-dashboard`,
      namespace: place.namespace,
      labels: { ...labels(place), grafana_dashboard: '1' },
    },
    data: { 'tintype.json': `${JSON.stringify(dashboard)}\n` },
  }),
};
