// The Grafana dashboard queries only existing metrics, all of them, and everything that alerts query.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createKubeMetrics } from '../../operator/kube/metrics.ts';
import { createMetrics } from '../../runtime/platform/metrics.ts';
import { projectRoot } from '../house/source-files.ts';
import { expectGrouped, expectMeasured, nodes, plain } from './promql.ts';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const dashboard = JSON.parse(read('config/grafana/tintype.json'));
const rules: { alert: string; expr: string }[] = parse(read('config/prometheus/rules.yaml')).spec
  .groups[0].rules;

describe('the dashboard', () => {
  type Place = { x: number; y: number; w: number; h: number };
  type Panel = {
    id: number;
    type: string;
    title: string;
    description?: string;
    gridPos: Place;
    datasource?: { uid: string };
    fieldConfig?: { defaults: { unit: string; min?: number } };
    targets?: { expr: string; refId: string; legendFormat: string }[];
  };
  const panels: Panel[] = dashboard.panels;
  const drawn = panels.filter(({ type }) => type !== 'row');
  const seriesOf = (query: string) =>
    nodes(query, 'VectorSelector').flatMap((selector) => nodes(selector, 'Identifier'));
  const drawnSeries = new Set(
    drawn.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => seriesOf(plain(expr)))),
  );

  it.each(drawn)('draws $title from existing metrics, in valid PromQL', ({ targets = [] }) => {
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr, legendFormat } of targets) {
      expectMeasured(plain(expr));
      expectGrouped(plain(expr));
      const grouped = nodes(plain(expr), 'GroupingLabels').flatMap((by) =>
        nodes(`sum by ${by} (a)`, 'LabelName'),
      );
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      // Two lines with the same name could not be told apart.
      const reported = grouped.filter((label) => label !== 'le');
      expect([...named].sort()).toEqual([...new Set(reported)].sort());
    }
  });

  it('gives every panel a unique id and title, a description and a unit, and lets none overlap', () => {
    expect(dashboard).toMatchObject({
      uid: 'tintype',
      schemaVersion: expect.any(Number),
      title: 'Tintype',
    });
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    for (const { fieldConfig, datasource, title, description } of drawn) {
      expect(description, title).toMatch(/^[A-Z\d].*\.$/);
      expect(fieldConfig?.defaults.unit, title).toMatch(
        /^(s|reqps|ops|Bps|short|percentunit|bytes)$/,
      );
      expect(datasource?.uid).toBe('$datasource');
    }
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from(
        { length: w * h },
        (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`,
      );
    });
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('defines the variables that it uses, and shows every metric of the product', () => {
    const variables = dashboard.templating.list.map(({ name }: { name: string }) => name);
    expect(variables).toEqual(['datasource', 'namespace']);
    const series = (name: string) => [name, `${name}_count`, `${name}_bucket`];
    const product = [...createMetrics().list(), ...createKubeMetrics().list()].filter(({ name }) =>
      /^tintype_(?!process_|nodejs_)/.test(name),
    );
    for (const { name } of product) {
      expect(
        series(name).some((each) => drawnSeries.has(each)),
        name,
      ).toBe(true);
    }
  });

  it.each(rules)('shows every series that $alert queries', ({ expr }) => {
    expect(seriesOf(expr).length).toBeGreaterThan(0);
    expect(seriesOf(expr).filter((series) => !drawnSeries.has(series))).toEqual([]);
  });

  const drawnSelectors = drawn.flatMap(({ targets = [] }) =>
    targets.flatMap(({ expr }) => nodes(plain(expr), 'VectorSelector')),
  );
  /** The labels that a selector restricts to one value. */
  const takenAlone = (selector: string) =>
    Object.fromEntries(
      [...selector.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, is]) => [name, is]),
    );

  it.each(rules)('filters out nothing of the series that $alert queries', ({ expr }) => {
    for (const asked of nodes(expr, 'VectorSelector')) {
      const shown = drawnSelectors.filter((selector) =>
        seriesOf(selector).every((series) => seriesOf(asked).includes(series)),
      );
      const fitting = shown.filter((selector) =>
        Object.entries(takenAlone(selector)).every(([name, is]) => takenAlone(asked)[name] === is),
      );
      expect(fitting, asked).not.toEqual([]);
    }
  });

  it('allows values below 0 only for the lead of the database clock', () => {
    const signed = drawn.filter(({ fieldConfig }) => fieldConfig?.defaults.min !== 0);
    const asked = signed.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => seriesOf(expr)),
    );
    expect(asked).toEqual(['tintype_database_lead_seconds']);
  });
});
